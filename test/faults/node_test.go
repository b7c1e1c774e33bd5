//go:build linux

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/internal/command"
	"simgraph/internal/demo"
	"simgraph/internal/fatal"
)

// node is a simgraph that serves the demo company, one of any number on its
// database.
type node struct {
	*testing.T
	*serving
	launch launch
	addr   string
	token  string
}

// makeDemo fills the databases of dbtest.
func makeDemo(ctx context.Context, pool *sqlx.DB) error {
	if err := db.Migrate(ctx, pool); err != nil {
		return err
	}
	// Statements that were prepared before the schema changed are refused once.
	pool.SetMaxIdleConns(0)
	env := &command.Env{Stdout: io.Discard, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler)}
	_, err := command.LoadDemo(ctx, env, pool, demo.Options{
		Company: "demo", Subscribers: 500, Days: 3, Seed: 1, Until: time.Now().UTC().Truncate(time.Hour),
	})
	return err
}

// startNode serves the demo company of a database, and waits until it is ready.
func startNode(t *testing.T, url string, args ...string) *node {
	t.Helper()
	n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: t.TempDir(), databaseURL: url, extra: args}}
	n.addr = n.launch.addr
	n.start()
	n.token = strings.TrimSpace(run(t, "token", "--user", "admin@demo.example", "--database-url", url))
	return n
}

// start runs the program, again after it has ended, where it was before.
func (n *node) start() {
	n.Helper()
	n.serving = serve(n.T, n.launch)
	eventually(n.T, "the server is ready", func() bool { return probe(n.addr) })
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func (n *node) url(path string) string { return "http://" + n.addr + path }

// probe requests what a balancer does.
func probe(addr string) bool {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + addr + "/readyz")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// signal starts the end of the node, without waiting.
func (n *node) signal(s syscall.Signal) {
	n.Helper()
	fatal.If(n, n.cmd.Process.Signal(s))
}

// awaitExit waits for the end and returns the exit status, -1 of one that a
// signal ended.
func (n *node) awaitExit(within time.Duration) int {
	n.Helper()
	select {
	case <-n.exited:
		return n.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		n.Fatalf("simgraph still runs after %v: %s", within, n.stderr)
		return 0
	}
}

// metric adds up the samples of a metric whose labels hold all of the texts.
func (n *node) metric(name string, labels ...string) (sum float64) {
	n.Helper()
	answer, err := http.Get(n.admin + "/metrics")
	fatal.If(n, err)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if series != name && !strings.HasPrefix(series, name+"{") || !hasAll(series, labels) {
			continue
		}
		number, _ := strconv.ParseFloat(value, 64)
		sum += number
	}
	return sum
}

func hasAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// heap is how many bytes live after a collection.
func (n *node) heap() float64 {
	n.Helper()
	n.collect()
	return n.metric("go_memstats_heap_alloc_bytes")
}

func (n *node) goroutines() float64 { return n.metric("go_goroutines") }

// resident is the memory of the process in bytes.
func (n *node) resident() float64 { return n.metric("process_resident_memory_bytes") }

// answer is what came back over HTTP.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// roundTrip sends a request with the token and reads all of the answer.
func (n *node) roundTrip(client *http.Client, base, method, path, body string) (answer, error) {
	r, err := http.NewRequestWithContext(n.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+n.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, text}, err
}

// must sends a request of which only success is expected.
func (n *node) must(method, path, body string) []byte {
	n.Helper()
	got, err := n.roundTrip(http.DefaultClient, n.url(""), method, path, body)
	fatal.If(n, err)
	if got.status != http.StatusOK || bytes.HasPrefix(got.body, []byte(`{"errors"`)) {
		n.Fatalf("%s %s: %d %.300s", method, path, got.status, got.body)
	}
	return got.body
}

// graph runs a query or mutation, and decodes its data.
func (n *node) graph(query string, data any) {
	n.Helper()
	var body struct{ Data json.RawMessage }
	fatal.If(n, json.Unmarshal(n.must("POST", "/graphql", document(query)), &body))
	fatal.If(n, json.Unmarshal(body.Data, data))
}

// document is the body of a request with the query.
func document(query string) string {
	text, _ := json.Marshal(map[string]string{"query": query})
	return string(text)
}

// fleet is the physical ids of some subscribers.
func (n *node) fleet(size int) []string {
	n.Helper()
	var data struct {
		Subscribers struct{ Nodes []struct{ PhysicalID string } }
	}
	n.graph(fmt.Sprintf(`{subscribers(first: %d) {nodes {physicalId}}}`, size), &data)
	ids := make([]string, 0, size)
	for _, node := range data.Subscribers.Nodes {
		ids = append(ids, node.PhysicalID)
	}
	return ids
}

// usageLine is a record of usage that began a minute ago.
func usageLine(source string, id int, subscriber string) string {
	now := time.Now().UTC()
	return fmt.Sprintf(`{"source":%q,"recordId":"%d","physicalId":%q,"sessionId":"%s-%d","startedAt":%q,"endedAt":%q,`+
		`"mobileOriginated":1,"mobileTerminated":2,"protocol":"TCP"}`+"\n", source, id, subscriber, source, id,
		now.Add(-time.Minute).Format(time.RFC3339), now.Format(time.RFC3339))
}
