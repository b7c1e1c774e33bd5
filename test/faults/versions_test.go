//go:build linux

package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// versions are two simgraphs that serve the same database in turn.
type versions struct {
	*trial
	old, new string
	// schema is the number of the newest migration of the old one.
	schema string
	// paths are what is compared.
	paths []string
}

// newVersions has the old version make a database, and serve it.
func newVersions(t *testing.T) *versions {
	t.Helper()
	old := previousProgram(t)
	d := &database{t: t, dir: dbtest.Dir(t, room)}
	d.start()
	t.Cleanup(func() { _ = d.server.Close() })
	l := launch{program: old, databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t)}
	file := filepath.Join(t.TempDir(), "acme.ndjson")
	fatal.If(t, os.WriteFile(file, bundle(), 0o600))
	runProgram(t, old, append([]string{"import", file}, l.database()...)...)
	var key accessKey
	fatal.If(t, json.Unmarshal([]byte(runProgram(t, old, append([]string{"key", "create", "--user", "ops@acme.example"}, l.database()...)...)), &key))
	v := &versions{trial: startTrial(t, l), old: old, new: program, schema: newestMigration(t, old, l), paths: comparedPaths(time.Now().UTC())}
	v.load = newLoad(newCallerBy(t, v.simgraph.base, key))
	return v
}

// newestMigration reads the number of the last line of `migrate status`.
func newestMigration(t *testing.T, program string, l launch) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^0*(\d+)_`).FindAllStringSubmatch(runProgram(t, program, append([]string{"migrate", "status"}, l.database()...)...), -1)
	if len(found) == 0 {
		t.Fatal("migrate status has no migrations")
	}
	return found[len(found)-1][1]
}

// comparedPaths are documented paths, with the analytics of the days around now.
func comparedPaths(now time.Time) []string {
	days := fmt.Sprintf("?startDate=%s&endDate=%s", now.AddDate(0, 0, -1).Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly))
	return []string{
		"/subscribers?limit=100", "/subscriber-groups", "/tags", "/alerts", "/alerts/logs?limit=1000", "/alerts/recipients",
		"/analytics/data-usage" + days, "/analytics/data-usage/" + physicalID(0) + days, "/analytics/data-usage-by-subscriber" + days,
		"/analytics/data-usage-network-protocol" + days, "/analytics/data-usage-ip-address" + days, "/analytics/session-count" + days,
	}
}

// state is the company as a version answers it: answers by path, and its export.
type state struct {
	answers map[string]string
	export  []map[string]any
}

// now reads the state by a token that the first version issued.
func (v *versions) now() state {
	v.t.Helper()
	s := state{answers: map[string]string{}}
	for _, path := range v.paths {
		response, text, err := v.load.send(v.t.Context(), http.MethodGet, path, "", nil)
		if err != nil || response.StatusCode != http.StatusOK {
			v.t.Fatalf("GET %s: %v %v %.300s", path, response, err, text)
		}
		s.answers[path] = string(text)
	}
	for line := range strings.Lines(runProgram(v.t, v.tool, append([]string{"export", "--company", "acme"}, v.launch.database()...)...)) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			v.t.Fatalf("the export has %.200s: %v", line, err)
		}
		s.export = append(s.export, object)
	}
	return s
}

// replace stops the version that serves, and starts another with a command run
// in between.
func (v *versions) replace(by string, between ...string) {
	v.t.Helper()
	v.simgraph.terminate()
	if len(between) > 0 {
		v.t.Log(strings.TrimSpace(runProgram(v.t, v.tool, append(between, v.launch.database()...)...)))
	}
	v.tool, v.launch.program = by, by
	v.simgraph = serve(v.t, v.launch)
	eventually(v.t, "it is ready", func() bool { return probe(v.launch.addr) })
}

// works puts the version under load until so many more records are acknowledged.
func (v *versions) works(records int) {
	v.t.Helper()
	v.load.begin(v.t)
	v.flow(records)
	v.load.end()
	if _, err := v.load.exchange(); err != nil {
		v.t.Errorf("the access key: %v", err)
	}
}

// same demands that two versions answer the same. Either may have more fields than the
// other of a line of the export.
func (v *versions) same(what string, old, other state) {
	v.t.Helper()
	for path, want := range old.answers {
		if got := other.answers[path]; got != want {
			v.t.Errorf("%s: GET %s: %s", what, path, difference(want, got))
		}
	}
	fields := fieldsOf(old.export)
	want, got := linesOf(old.export, fields), linesOf(other.export, fields)
	if !slices.Equal(want, got) {
		v.t.Errorf("%s: the export: %s", what, difference(strings.Join(want, "\n"), strings.Join(got, "\n")))
	}
}

// difference shows where two texts part.
func difference(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	from := max(0, at-100)
	return fmt.Sprintf("…%.300q became …%.300q", want[from:], got[from:])
}

// fieldsOf are the fields of each type of line.
func fieldsOf(export []map[string]any) map[string]map[string]bool {
	fields := map[string]map[string]bool{}
	for _, line := range export {
		name := fmt.Sprint(line["type"])
		if fields[name] == nil {
			fields[name] = map[string]bool{}
		}
		for field := range line {
			fields[name][field] = true
		}
	}
	return fields
}

// linesOf are the lines of those types in any order, with those fields alone.
func linesOf(export []map[string]any, fields map[string]map[string]bool) []string {
	var lines []string
	for _, line := range export {
		known := fields[fmt.Sprint(line["type"])]
		if known == nil {
			continue
		}
		line = maps.Clone(line)
		maps.DeleteFunc(line, func(field string, _ any) bool { return !known[field] })
		var text bytes.Buffer
		_ = json.NewEncoder(&text).Encode(line) // into memory: it cannot fail
		lines = append(lines, text.String())
	}
	slices.Sort(lines)
	return lines
}

func TestAnUpgradeAndADowngradeByOneVersionLoseNothing(t *testing.T) {
	t.Parallel()
	v := newVersions(t)
	v.tool = v.old
	v.works(1000)
	before := v.now()
	v.replace(v.new)
	v.same("after the upgrade", before, v.now())
	v.works(500)
	after := v.now()
	v.replace(v.old)
	v.same("in the version before, on the schema of this one", v.now(), after)
	v.works(500)
	v.replace(v.new)
	after = v.now()
	v.replace(v.old, "migrate", "down", "--yes", "--to", v.schema)
	v.same("after the downgrade", v.now(), after)
	v.begin()
	v.finish("upgrade from the version before, and back with and without `migrate down`", v.launch.databaseURL)
}
