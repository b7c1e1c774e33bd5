package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/coder/websocket"

	"simgraph/db/dbtest"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

var update = flag.Bool("update", false, "write the tables of the documentation again")

// flagTable is every flag of serve as a table, one for each group.
func flagTable(t *testing.T) string {
	t.Helper()
	parser, err := kong.New(&commandLine{}, kong.Name("simgraph"), kong.DefaultEnvars("SIMGRAPH"), kong.Vars{"dataDir": "/var/lib/simgraph` as root, else `.simgraph"})
	fatal.If(t, err)
	var text strings.Builder
	group := "none"
	for _, child := range parser.Model.Children {
		if child.Name != "serve" {
			continue
		}
		for _, flags := range child.AllFlags(true) {
			for _, f := range flags {
				if f.Name == "help" || f.Name == "version" {
					continue
				}
				title := "Server"
				if f.Group != nil {
					title = f.Group.Key
				}
				if title != group {
					group = title
					fmt.Fprintf(&text, "\n**%s**\n\n| flag | environment | default | |\n|---|---|---|---|\n", title)
				}
				fmt.Fprintf(&text, "| `--%s` | %s | %s | %s |\n", f.Name, quoted(f.Envs), quoted([]string{f.Default}), command.HelpOf(f.Value))
			}
		}
	}
	return text.String() + "\n"
}

func quoted(texts []string) string {
	var marked []string
	for _, text := range texts {
		if text != "" {
			marked = append(marked, "`"+text+"`")
		}
	}
	return strings.Join(marked, ", ")
}

func TestTheManualHasEveryFlag(t *testing.T) {
	t.Parallel()
	derived(t, "docs/operations.md", "flags", flagTable(t))
}

var metricName = regexp.MustCompile(`\b(simgraph|go|process)_[a-z_0-9]+`)

// TestDashboardsReadMetricsThatAreServed holds the files for operators against the
// metrics of a server that has answered something.
func TestDashboardsReadMetricsThatAreServed(t *testing.T) {
	admin := freeAddress(t)
	t.Setenv("SIMGRAPH_RADIUS_ADDR", "127.0.0.1:0")
	t.Setenv("SIMGRAPH_ADMIN_ADDR", admin)
	t.Setenv("SIMGRAPH_COST_RATE", "1")
	t.Setenv("SIMGRAPH_COST_BURST", "1000")
	t.Setenv("SIMGRAPH_CONCURRENCY", "4")
	t.Setenv("SIMGRAPH_DATABASE_URL", dbtest.URL(t))
	t.Setenv("SIMGRAPH_DATABASE_REPLICA_URL", "postgres://127.0.0.1:1/gone")
	s := start(t, dataDir(t), nil)
	s.exercise()
	metrics := s.fetch("http://"+admin+"/metrics", nil)
	// Conditions are evaluated for the first time some seconds after the start.
	for deadline := time.Now().Add(time.Minute); !strings.Contains(metrics, "\nsimgraph_conditions_evaluated") && time.Now().Before(deadline); {
		time.Sleep(time.Second)
		metrics = s.fetch("http://"+admin+"/metrics", nil)
	}
	for _, name := range []string{dashboardFile, rulesFile} {
		content, err := os.ReadFile(name)
		fatal.If(t, err)
		if filepath.Ext(name) == ".json" && !json.Valid(content) {
			t.Errorf("%s is no JSON", name)
		}
		for _, metric := range metricName.FindAllString(string(content), -1) {
			if !strings.Contains(metrics, "\n"+metric+"{") && !strings.Contains(metrics, "\n"+metric+" ") {
				t.Errorf("%s reads %s, which is not served", name, metric)
			}
		}
	}
	checkWatched(t, metrics)
	promtool(t, strings.NewReader(metrics), "check", "metrics")
	if strings.Contains(metrics, s.token) || strings.Contains(s.stderr.String(), s.token) {
		t.Error("the token is in the metrics")
	}
}

// TestTheFilesOfPrometheusAreValid runs promtool.
func TestTheFilesOfPrometheusAreValid(t *testing.T) {
	promtool(t, nil, "check", "rules", "deploy/prometheus-rules.yaml")
	promtool(t, nil, "check", "config", "--syntax-only", "deploy/prometheus.yaml")
	checkWith(t, nil, "amtool", "check-config", "deploy/alertmanager.yaml")
}

// promtool fails the test when promtool finds fault; where it is not installed,
// nothing is checked.
func promtool(t *testing.T, in io.Reader, args ...string) {
	t.Helper()
	checkWith(t, in, "promtool", args...)
}

// checkWith runs a program of Debian's packages prometheus and prometheus-alertmanager.
func checkWith(t *testing.T, in io.Reader, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Log(name, "is not installed: unchecked are", args)
		return
	}
	check := exec.CommandContext(t.Context(), program, args...)
	check.Stdin = in
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// exercise calls each endpoint, beyond a limit too.
func (s *instance) exercise() {
	s.t.Helper()
	bearer := http.Header{"Authorization": {"Bearer " + s.token}, "Content-Type": {"application/json"}}
	if got := s.fetch(s.base+"/subscribers?limit=3", bearer); !strings.HasPrefix(got, `{"content":[`) {
		s.t.Error(got)
	}
	s.recordOne(bearer)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, s.base+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: bearer})
	fatal.If(s.t, err)
	defer func() { _ = conn.CloseNow() }()
	var throttled bool
	for range 50 {
		response := s.deliver(s.base+"/graphql", bearer, `{"query":"query Fleet { subscribers(first: 100) { nodes { physicalId group { name } } } }"}`)
		if response.StatusCode == http.StatusTooManyRequests {
			throttled = response.Header.Get("Retry-After") != ""
			break
		}
	}
	if !throttled {
		s.t.Error("cost is not limited")
	}
	r, _ := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+"/subscribers", nil)
	r.Header = bearer
	response, err := http.DefaultClient.Do(r)
	fatal.If(s.t, err)
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" || !strings.Contains(string(body), `"RATE_LIMITED"`) {
		s.t.Errorf("REST beyond the limit: %s %s", response.Status, body)
	}
}

// recordOne books one record, of nobody.
func (s *instance) recordOne(header http.Header) {
	s.t.Helper()
	header = header.Clone()
	header.Set("Content-Type", "application/x-ndjson")
	now := time.Now().UTC()
	s.deliver(s.base+"/usage/records", header, fmt.Sprintf(`{"source":"pgw","recordId":"r1","physicalId":"nobody","startedAt":%q,"endedAt":%q,`+
		`"mobileOriginated":1,"mobileTerminated":2,"protocol":"TCP"}`+"\n", now.Add(-time.Minute).Format(time.RFC3339), now.Format(time.RFC3339)))
}

func (s *instance) deliver(url string, header http.Header, body string) *http.Response {
	s.t.Helper()
	r, _ := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url, strings.NewReader(body))
	r.Header = header
	response, err := http.DefaultClient.Do(r)
	fatal.If(s.t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response
}

func (s *instance) fetch(url string, header http.Header) string {
	s.t.Helper()
	r, _ := http.NewRequestWithContext(s.t.Context(), http.MethodGet, url, nil)
	r.Header = header
	response, err := http.DefaultClient.Do(r)
	fatal.If(s.t, err)
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
