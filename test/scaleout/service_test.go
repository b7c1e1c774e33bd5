// Package scaleout holds no code, but the tests that run the whole service on
// more than one database server: with a hot standby for reads, and behind a
// pooler.
package scaleout

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/access"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// patience is for what must happen at last, on the busiest of machines.
const patience = time.Minute

// service is a simgraph that serves the demo company.
type service struct {
	t     *testing.T
	base  string
	admin string
	// token is that of the administrator, who may do everything.
	token string
	// direct is the primary database itself.
	direct *sqlx.DB
}

// commandLine is what the program understands, as far as it is needed here.
type commandLine struct {
	command.Database
	Serve command.Serve `cmd:""`
}

var (
	printedBase  = regexp.MustCompile(`http://[0-9.:]+`)
	printedToken = regexp.MustCompile(`Bearer (sgt_\S+?)'`)
	loggedAdmin  = regexp.MustCompile(`(http://[0-9.:]+)/metrics`)
)

// serve runs the service with the flags until the test ends. direct is the
// address of the primary.
func serve(t *testing.T, direct string, flags ...string) *service {
	t.Helper()
	line := commandLine{}
	parser := kong.Must(&line, kong.DefaultEnvars("SIMGRAPH_TEST"), kong.Vars{"dataDir": t.TempDir()})
	flags = append([]string{"serve", "--demo", "--demo-feed", "off", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, flags...)
	if _, err := parser.Parse(flags); err != nil {
		t.Fatal(err)
	}
	log, logged := watch(io.Discard, loggedAdmin)
	stdout, printed := watch(t.Output(), printedBase, printedToken)
	env := &command.Env{
		Database: line.Database, Stdout: stdout, Stderr: io.Discard,
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), nil)),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- line.Serve.Run(ctx, env); _ = stdout.Close(); _ = log.Close() }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended: %v", err)
		}
	})
	s := &service{t: t, admin: <-logged[0], base: <-printed[0], token: <-printed[1]}
	if s.base == "" || s.token == "" || s.admin == "" {
		t.Fatal("the service did not start")
	}
	s.direct = open(t, direct, pg.Options{})
	return s
}

// watch returns a writer that passes on what is written, and what each pattern
// finds there first: its group, or all; "" when the writer is closed before.
func watch(to io.Writer, patterns ...*regexp.Regexp) (io.WriteCloser, []chan string) {
	from, in := io.Pipe()
	found := make([]chan string, len(patterns))
	for i := range patterns {
		found[i] = make(chan string, 1)
	}
	go func() {
		seen := make([]bool, len(patterns))
		for lines := bufio.NewScanner(from); lines.Scan(); {
			_, _ = fmt.Fprintln(to, lines.Text())
			for i, pattern := range patterns {
				if match := pattern.FindStringSubmatch(lines.Text()); match != nil && !seen[i] {
					seen[i] = true
					found[i] <- match[len(match)-1]
				}
			}
		}
		for _, one := range found {
			close(one)
		}
	}()
	return in, found
}

func open(t *testing.T, url string, options pg.Options) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, options)
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// tokenOf returns a token of another user of the demo company.
func (s *service) tokenOf(email string) string {
	s.t.Helper()
	access := access.New(s.direct)
	company, _, err := access.FindUser(s.t.Context(), email)
	fatal.If(s.t, err)
	grant, err := access.Issue(s.t.Context(), domain.Whole(company), email, time.Hour)
	fatal.If(s.t, err)
	return string(grant.Token)
}

// request is one to the service; the token is the administrator's unless there
// is another.
type request struct {
	method, path string
	body         any
	token        string
	header       http.Header
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s *service) send(r request) (answer, error) {
	var body bytes.Buffer
	kind := "application/json"
	switch given := r.body.(type) {
	case nil:
	case string: // a stream
		kind = "application/x-ndjson"
		body.WriteString(given)
	default:
		if err := json.NewEncoder(&body).Encode(given); err != nil {
			return answer{}, err
		}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), r.method, s.base+r.path, &body)
	if err != nil {
		return answer{}, err
	}
	if r.token == "" {
		r.token = s.token
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if r.body != nil {
		req.Header.Set("Content-Type", kind)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode >= 300 || strings.Contains(string(text), `"errors":[`)) {
		err = fmt.Errorf("%s %s: %d %s", r.method, r.path, resp.StatusCode, text)
	}
	return answer{resp.StatusCode, resp.Header, text}, err
}

// must sends a request that has to be answered well.
func (s *service) must(r request) answer {
	s.t.Helper()
	got, err := s.send(r)
	fatal.If(s.t, err)
	return got
}

// document is a request to the graph.
func document(document string, variables map[string]any) request {
	return request{method: http.MethodPost, path: "/graphql", body: map[string]any{"query": document, "variables": variables}}
}

func (r request) by(token string) request {
	r.token = token
	return r
}

func (r request) with(name, value string) request {
	r.header = http.Header{name: {value}}
	return r
}

// metric is the value of a line of the metrics, found by how it begins; -1 when
// there is none.
func (s *service) metric(line string) float64 {
	s.t.Helper()
	resp, err := http.Get(s.admin + "/metrics")
	fatal.If(s.t, err)
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if rest, is := strings.CutPrefix(lines.Text(), line); is {
			_, number, _ := strings.Cut(rest, " ")
			value, err := strconv.ParseFloat(number, 64)
			fatal.If(s.t, err)
			return value
		}
	}
	return -1
}

// eventually waits for a fact.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if fact() {
			return
		}
	}
	t.Fatalf("not so after %v: %s", patience, what)
}
