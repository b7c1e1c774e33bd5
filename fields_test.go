package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// fieldScript sends operations, and counts what each of them uses.
type fieldScript struct {
	*testing.T
	url  string
	want map[string]int64
}

// useOf is how a test names a use.
func useOf(coordinate, client, version, operation string) string {
	return strings.Join([]string{coordinate, client, version, operation}, "|")
}

// step is an operation of the script with what it uses.
type step struct {
	client, version, body, operation string
	coordinates                      []string
}

func (f *fieldScript) send(s *instance, of step) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, s.base+"/graphql", strings.NewReader(of.body))
	fatal.If(f.T, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("apollographql-client-name", of.client)
	r.Header.Set("apollographql-client-version", of.version)
	if _, answer := s.send(r); answer["errors"] != nil {
		f.Fatal(answer)
	}
	for _, at := range of.coordinates {
		f.want[useOf(at, of.client, of.version, of.operation)]++
	}
}

// usage is what the command prints, of the clients of the script.
func (f *fieldScript) usage(args ...string) map[string]int64 {
	f.Helper()
	status, stdout, stderr := simgraph(f.T, f.TempDir(), append([]string{"--database-url", f.url, "schema", "usage", "--json"}, args...)...)
	var report struct {
		Uses []struct {
			Coordinate, Client, Version, Operation string
			Uses                                   int64
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || status != 0 {
		f.Fatal(err, status, stderr)
	}
	got := map[string]int64{}
	for _, u := range report.Uses {
		if strings.HasPrefix(u.Client, "script") {
			got[useOf(u.Coordinate, u.Client, u.Version, u.Operation)] = u.Uses
		}
	}
	return got
}

// agrees waits until the command prints what the script has sent.
func (f *fieldScript) agrees(when string) {
	f.Helper()
	var got map[string]int64
	for range 20 {
		if got = f.usage(); maps.Equal(got, f.want) {
			return
		}
		time.Sleep(time.Second)
	}
	for of, n := range f.want {
		if got[of] != n {
			f.Errorf("%s: %s is %d, want %d", when, of, got[of], n)
		}
	}
	for of, n := range got {
		if f.want[of] == 0 {
			f.Errorf("%s: %s is %d, want none", when, of, n)
		}
	}
}

var fieldSteps = []step{
	{"script", "1.0", `{"query":"query Names {company {name}}"}`, "Names", []string{"Query.company", "Company.name"}},
	{"script", "1.1", `{"query":"query Names {company {name}}"}`, "Names", []string{"Query.company", "Company.name"}},
	{
		"script", "1.1", `{"query":"query Page($filter: SubscriberFilter) {subscribers(first: 1, filter: $filter, orderBy: {field: DATA_USAGE, direction: DESC}) {nodes {...S}}} fragment S on Subscriber {nickname}",` +
			`"variables":{"filter":{"nickname":{"eq":"nobody"},"or":[{"kind":{"eq":"CELLULAR"}}]}}}`, "Page",
		[]string{
			"Query.subscribers", "Query.subscribers(first:)", "Query.subscribers(filter:)", "Query.subscribers(orderBy:)", "SubscriberOrder.field", "SubscriberOrder.direction",
			"SubscriberOrderField.DATA_USAGE", "OrderDirection.DESC", "SubscriberConnection.nodes", "Subscriber", "Subscriber.nickname", "SubscriberFilter",
			"SubscriberFilter.nickname", "StringFilter.eq", "SubscriberFilter.or", "SubscriberFilter.kind", "SubscriberKindFilter.eq", "SubscriberKind.CELLULAR",
		},
	},
}

// What clients use is counted exactly, over two instances and a restart.
func TestFieldUsageEqualsTheScript(t *testing.T) {
	t.Parallel()
	f := &fieldScript{T: t, url: dbtest.URL(t), want: map[string]int64{}}
	a := start(t, dataDir(t), nil, "--database-url", f.url)
	b := start(t, dataDir(t), nil, "--database-url", f.url)
	for i := range 30 {
		f.send([]*instance{a, b}[i%2], fieldSteps[i%3])
	}
	f.agrees("two instances")
	for i := range 7 {
		f.send(a, fieldSteps[i%3])
	}
	if status := a.end(syscall.SIGTERM); status != 0 {
		t.Fatal(status)
	}
	a = start(t, dataDir(t), nil, "--database-url", f.url)
	for i := range 5 {
		f.send([]*instance{a, b}[i%2], fieldSteps[i%3])
	}
	f.agrees("a restart")
	// A kill loses nothing that was stored.
	fatal.If(t, b.cmd.Process.Kill())
	f.send(a, fieldSteps[0])
	f.agrees("a kill")
	f.gate(a)
}

// gate lets a schema go that nobody uses, and refuses one that a client uses.
func (f *fieldScript) gate(s *instance) {
	f.Helper()
	if status, _ := s.get("/subscribers?limit=1", s.token); status != http.StatusOK {
		f.Fatal(status)
	}
	dir := f.TempDir()
	printed := s.must("schema")
	var usage string
	for range 20 {
		if usage = s.must("--database-url", f.url, "schema", "usage", "--since", "90d", "--json"); strings.Contains(usage, `"simgraph rest"`) {
			break
		}
		time.Sleep(time.Second)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		fatal.If(f.T, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	counted := write("usage.json", usage)
	before, company, _ := strings.Cut(printed, "type Company implements Node {\n")
	for was, want := range map[string]string{
		"neverThere: Int\n  name: String!": "unused: Company.neverThere was removed",
		"name: Int":                        "breaking: Company.name was Int and is String!: used by script 1.0 (last on ",
	} {
		old := before + "type Company implements Node {\n" + strings.Replace(company, "name: String!", was, 1)
		status, stdout, stderr := simgraph(f.T, f.TempDir(), "schema", "--diff", write("old.graphql", old), "--usage", counted)
		if breaks := strings.HasPrefix(want, "breaking"); !strings.Contains(stdout, want) || breaks != (status == 1) {
			f.Errorf("%q: %d %s %s", was, status, stdout, stderr)
		}
	}
	empty := write("empty.json", `{"uses":[]}`)
	if status, _, stderr := simgraph(f.T, f.TempDir(), "schema", "--diff", "docs/schema.graphql", "--usage", empty); status == 0 || !strings.Contains(stderr, "has no uses") {
		f.Error(status, stderr)
	}
	unused := s.must("--database-url", f.url, "schema", "usage", "--unused")
	for at, want := range map[string]bool{"Company.name": false, "Query.subscribers(filter:)": false, "Query.subscribers(last:)": true, "SubscriberKind.CELLULAR": false, "SubscriberKind.SATELLITE": true, "Query.groups": true} {
		if strings.Contains("\n"+unused, fmt.Sprintf("\n%s\n", at)) != want {
			f.Errorf("%s is unused: not %v", at, want)
		}
	}
}
