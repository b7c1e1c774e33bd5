package resolvers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/access"
	"simgraph/db/bulk"
	"simgraph/db/carrier"
	"simgraph/db/dbtest"
	"simgraph/db/document"
	"simgraph/db/fieldusage"
	"simgraph/db/pg"
	"simgraph/db/signin"
	"simgraph/db/source"
	"simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/webhook"
	"simgraph/domain"
	trusted "simgraph/domain/document"
	"simgraph/graph/engine/transport"
	"simgraph/internal/bundle"
	"simgraph/internal/demo"
	"simgraph/internal/fatal"
	"simgraph/internal/intake"
	"simgraph/internal/profile"
	"simgraph/internal/seal"
	"simgraph/internal/stores"
	"simgraph/resolvers"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// now is when all these tests happen.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// stack is the graph on a real database with a made-up company in it.
type stack struct {
	engine     *transport.Server
	pool       *sqlx.DB
	url        string
	ports      resolvers.Ports
	caller     *domain.Caller
	statements atomic.Int64
}

// newStack loads the demo company; the caller is its administrator.
func newStack(t testing.TB) *stack {
	t.Helper()
	s := &stack{url: dbtest.URL(t)}
	pool, err := pg.Open(t.Context(), s.url, pg.Options{
		Observe: func(context.Context, string) { s.statements.Add(1) },
	})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	records := usage.New(pool, nil, usage.Options{Now: clock})
	access := access.New(pool)
	endpoints := webhook.New(pool, webhook.Options{Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Now: clock})
	bundles := stores.Bundles(pool, clock)
	bundles.Usage = records
	load(t, bundles)
	s.pool, s.ports = pool, stores.Ports(pool, clock)
	s.ports.Access, s.ports.Usage, s.ports.Analytics = access, records, usage.NewAnalytics(records)
	s.ports.Accounts = signin.New(pool, access, signin.Options{Idle: time.Hour, Most: time.Hour})
	s.ports.Documents = document.New(pool, document.Options{
		Check:     func(text string) (trusted.Checked, error) { return s.engine.Inspect(text) },
		CheckTool: func(*trusted.Document) error { return nil }, MostTools: 1, Now: clock,
	})
	s.ports.FieldUsage, s.ports.Operations = fieldusage.New(pool, fieldusage.Options{Now: clock}), bulk.New(pool, bulk.Options{Now: clock})
	s.ports.Webhooks, s.ports.Commands = endpoints, carrier.New(pool, endpoints, clock)
	senders := source.New(pool, source.Options{
		Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: clock,
	})
	s.ports.Upstreams = upstream.New(pool, upstream.Options{Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Now: clock})
	s.ports.Sources, s.ports.Intake = senders, &intake.Intake{Sources: senders, Usage: records, Now: clock}
	s.engine = engineOn(s.ports, transport.Config{})
	s.caller = callerNamed(t, access, "admin@demo.example")
	return s
}

func clock() time.Time { return now }

// engineOn is the graph on the ports; the rest of cfg is as given.
func engineOn(ports resolvers.Ports, cfg transport.Config) *transport.Server {
	graph := resolvers.New(ports, clock)
	cfg.Present, cfg.PerResponse, cfg.AfterRootMutationField = resolvers.Present, graph.WithLoaders, resolvers.ForgetLoaded
	return transport.New(graph.Schema(), cfg)
}

func load(t testing.TB, stores bundle.Stores) {
	t.Helper()
	var text bytes.Buffer
	w := bundle.NewWriter(&text)
	for item := range demo.Items(demo.Options{Company: "demo", Subscribers: 120, Days: 2, Seed: 1, Until: now}) {
		fatal.If(t, w.Write(item))
	}
	fatal.If(t, w.Flush())
	counts, err := stores.Import(t.Context(), bundle.NewReader(&text), bundle.Options{
		BadLine: func(bad *bundle.LineError) { t.Errorf("line %d: %v", bad.Line, bad.Err) },
	})
	if err != nil {
		t.Fatalf("%v after %v", err, counts)
	}
}

func callerNamed(t testing.TB, access *access.Store, email string) *domain.Caller {
	t.Helper()
	company, _, err := access.FindUser(t.Context(), email)
	fatal.If(t, err)
	grant, err := access.Issue(t.Context(), domain.Whole(company), email, time.Hour)
	fatal.If(t, err)
	caller, err := access.Authenticate(t.Context(), grant.Token)
	fatal.If(t, err)
	return caller
}

// response is a response of the graph with the number of its statements.
type response struct {
	Data       map[string]any `json:"data"`
	Errors     []fault        `json:"errors"`
	Extensions map[string]any `json:"extensions"`
	Statements int            `json:"-"`
}

type fault struct {
	Message    string         `json:"message"`
	Path       []any          `json:"path"`
	Extensions map[string]any `json:"extensions"`
}

// ask sends a query over HTTP, as the caller.
func (s *stack) ask(t testing.TB, query string, variables ...any) *response {
	t.Helper()
	values := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		values[variables[i].(string)] = variables[i+1]
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": values})
	fatal.If(t, err)
	ctx := domain.WithCaller(t.Context(), s.caller)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	before := s.statements.Load()
	s.engine.ServeHTTP(w, r)
	a := &response{Statements: int(s.statements.Load() - before)}
	if err := json.Unmarshal(w.Body.Bytes(), a); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return a
}

// mustAsk is ask without errors.
func (s *stack) mustAsk(t testing.TB, query string, variables ...any) *response {
	t.Helper()
	a := s.ask(t, query, variables...)
	if len(a.Errors) > 0 {
		t.Fatalf("%s\n%v", query, a.Errors)
	}
	return a
}

// mustTake demands that a query takes so many statements.
func (s *stack) mustTake(t testing.TB, want int, query string, variables ...any) {
	t.Helper()
	if took := s.mustAsk(t, query, variables...).Statements; took != want {
		t.Errorf("%s: %d statements, want %d", query, took, want)
	}
}

// at follows names and indexes into the data.
func (r *response) at(path ...any) any {
	var value any = r.Data
	for _, step := range path {
		switch step := step.(type) {
		case string:
			value = value.(map[string]any)[step]
		case int:
			value = value.([]any)[step]
		}
	}
	return value
}

func (r *response) code() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return fmt.Sprint(r.Errors[0].Extensions["code"])
}
