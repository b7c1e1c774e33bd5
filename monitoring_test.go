package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

const (
	rulesFile     = "deploy/prometheus-rules.yaml"
	dashboardFile = "deploy/grafana-dashboard.json"
	runbook       = "docs/runbook.md"
)

// rule is one of Prometheus.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

// rulesOf reads a file of rules.
func rulesOf(t *testing.T, name string) (rules []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	fatal.If(t, yaml.UnmarshalWithOptions([]byte(manual(t, name)), &file, yaml.Strict()))
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal(name, "has no rules")
	}
	return rules
}

// unwatched are families of metrics, or their beginnings with *, that stand in no panel
// and no rule, and why.
var unwatched = map[string]string{
	"go_*":      "of Go's runtime, for those who look for a cause; the dashboard has memory, goroutines and the pools of connections",
	"process_*": "of the process, for those who look for a cause; the dashboard has memory, processor and files",
}

// declared is how sources of the telemetry name a family.
var declared = regexp.MustCompile(`\b(?:counters?|gauges?|histograms?|described)\("([a-z_]+)"|Name: +"([a-z_]+)"|BuildFQName\(namespace, "", "([a-z_]+)"`)

// families are those that a server serves, of which metrics is what it answered, with
// those that the sources name: a family with labels is served once something was counted.
func families(t *testing.T, metrics string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(metrics) {
		if rest, is := strings.CutPrefix(line, "# TYPE "); is {
			name, _, _ := strings.Cut(rest, " ")
			all[name] = true
		}
	}
	paths, err := filepath.Glob("internal/telemetry/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, match := range declared.FindAllStringSubmatch(manual(t, path), -1) {
			all["simgraph_"+match[1]+match[2]+match[3]] = true
		}
	}
	return all
}

// checkWatched checks that each family that is served stands in a panel, in a rule or in
// unwatched.
func checkWatched(t *testing.T, metrics string) {
	t.Helper()
	read := map[string]bool{}
	for _, text := range append(expressions(t), recordings(t)...) {
		for _, name := range metricName.FindAllString(text, -1) {
			read[name] = true
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				read[strings.TrimSuffix(name, suffix)] = true
			}
		}
	}
	used := map[string]bool{}
	for _, family := range slices.Sorted(maps.Keys(families(t, metrics))) {
		listed := ""
		for pattern := range unwatched {
			if prefix, wild := strings.CutSuffix(pattern, "*"); pattern == family || wild && strings.HasPrefix(family, prefix) {
				listed = pattern
			}
		}
		used[listed] = true
		if !read[family] && listed == "" {
			t.Errorf("%s stands in no panel and no rule", family)
		}
	}
	for pattern := range unwatched {
		if !used[pattern] {
			t.Errorf("%s is no family, and need not be listed", pattern)
		}
	}
}

// expressions are those of the alerts and panels.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	for _, r := range rulesOf(t, rulesFile) {
		if r.Alert != "" {
			all = append(all, r.Expr)
		}
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	fatal.If(t, json.Unmarshal([]byte(manual(t, dashboardFile)), &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

// recordings are the expressions of the recorded series that alerts and panels read.
func recordings(t *testing.T) (all []string) {
	t.Helper()
	read := strings.Join(expressions(t), "\n")
	for _, r := range rulesOf(t, rulesFile) {
		if r.Record != "" && strings.Contains(read, r.Record) {
			all = append(all, r.Expr)
		}
	}
	return all
}

var (
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor  = regexp.MustCompile(`[^\w -]`)
	severities = []string{"page", "ticket"}
)

// anchors are the addresses of the headings of a document, as GitHub makes them.
func anchors(t *testing.T, name string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(manual(t, name), -1) {
		all[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return all
}

func TestEveryAlertRuleHasARunbookThatExists(t *testing.T) {
	t.Parallel()
	alerts := map[string]bool{}
	for _, r := range rulesOf(t, rulesFile) {
		if r.Alert == "" {
			continue
		}
		alerts[strings.ToLower(r.Alert)] = true
		if r.Annotations["summary"] == "" || !slices.Contains(severities, r.Labels["severity"]) {
			t.Errorf("%s lacks a summary or a severity", r.Alert)
		}
		name, anchor, _ := strings.Cut(r.Annotations["runbook_url"], "#")
		if _, err := os.Stat(name); err != nil || !anchors(t, name)[anchor] {
			t.Errorf("%s: the runbook %q does not exist", r.Alert, r.Annotations["runbook_url"])
		}
	}
	for anchor := range anchors(t, runbook) {
		if strings.HasPrefix(anchor, "simgraph") && !alerts[anchor] {
			t.Errorf("%s has a section about %s, which is no alert", runbook, anchor)
		}
	}
}

// otherRules are steps of housekeeping with rules by metrics of their own.
var otherRules = map[domain.Step]string{
	domain.StepAnnounced: "SimgraphLedgerLosesMonths", domain.StepDetached: "SimgraphLedgerDropsMonths", domain.StepRetentions: "SimgraphRetentionShortened",
}

var (
	queueRead = regexp.MustCompile(`queue="([a-z_]+)"`)
	stepsRead = regexp.MustCompile(`step=~"([a-z_|]+)"`)
)

func TestEveryQueueAndStepHasAnAlertRule(t *testing.T) {
	t.Parallel()
	alerts, queues, steps := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range rulesOf(t, rulesFile) {
		alerts[r.Alert] = true
		for _, match := range queueRead.FindAllStringSubmatch(r.Expr, -1) {
			queues[match[1]] = true
		}
		for _, match := range stepsRead.FindAllStringSubmatch(r.Expr, -1) {
			for step := range strings.SplitSeq(match[1], "|") {
				steps[step] = true
			}
		}
	}
	for _, queue := range domain.Queues {
		if !queues[string(queue)] {
			t.Errorf("no rule reads the queue %s", queue)
		}
		delete(queues, string(queue))
	}
	for _, step := range domain.Steps {
		if !steps[string(step)] && !alerts[otherRules[step]] {
			t.Errorf("no rule reads the step %s", step)
		}
		delete(steps, string(step))
	}
	if len(queues)+len(steps) > 0 {
		t.Errorf("rules read %v and %v, which are no queues and steps", queues, steps)
	}
}
