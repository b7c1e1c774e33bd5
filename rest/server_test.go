package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	keys "simgraph/db/access"
	"simgraph/db/dbtest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
	"simgraph/internal/problem"
	"simgraph/internal/stores"
	"simgraph/resolvers"
	"simgraph/rest"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// clock is when the tests take place, so that answers are the same every day.
func clock() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// newServer returns all endpoints on a database that holds testdata/fleet.ndjson.
// Charge, unless nil, books the cost of operations.
func newServer(t *testing.T, pool *sqlx.DB, charge func(context.Context, int) error) http.Handler {
	t.Helper()
	load(t, pool)
	store := keys.New(pool)
	gate := access.NewGate(store, time.Now)
	ports := stores.Ports(pool, clock)
	ports.Access, ports.Usage, ports.Analytics = store, usageStore(pool), usage.NewAnalytics(usageStore(pool))
	graph := resolvers.New(ports, clock)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	engine := transport.New(graph.Schema(), transport.Config{
		Log:                    log,
		Present:                resolvers.Present,
		PerResponse:            graph.WithLoaders,
		AfterRootMutationField: resolvers.ForgetLoaded,
		Charge:                 charge,
	})
	t.Cleanup(engine.Close)
	paths, err := rest.New(rest.Config{
		Schema:       graph.Schema().Schema(),
		Prepare:      engine.Prepare,
		Authenticate: gate.Admit,
		RequestID:    transport.RequestID,
		Log:          log,
	})
	fatal.If(t, err)
	return httpd.Handler(httpd.Endpoints{
		Graph:  httpd.Graph(gate, engine, problem.Challenge{}, log),
		OAuth:  access.NewOAuth(store, log),
		Health: &httpd.Health{Check: func(ctx context.Context) error { return pool.PingContext(ctx) }},
		Others: httpd.Pages(map[string]http.Handler{"/openapi.json": http.HandlerFunc(paths.ServeContract)}),
		REST:   paths,
	})
}

func usageStore(pool *sqlx.DB) *usage.Store {
	return usage.New(pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
}

// load imports the companies of the tests.
func load(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	file, err := os.Open("testdata/fleet.ndjson")
	fatal.If(t, err)
	defer file.Close()
	stores := stores.Bundles(pool, clock)
	stores.Usage = usageStore(pool)
	counts, err := stores.Import(t.Context(), bundle.NewReader(file), bundle.Options{
		BadLine: func(line *bundle.LineError) { t.Error(line) },
	})
	if err != nil || counts.Failed() > 0 {
		t.Fatalf("import: %v, %v", counts, err)
	}
}

// tokens returns access tokens of the users, by the first part of their
// e-mail address; that of rival's only user under "rival".
func tokens(t *testing.T, pool *sqlx.DB) map[string]string {
	t.Helper()
	store := keys.New(pool)
	all := map[string]string{}
	for _, email := range []string{"admin@acme.example", "reader@acme.example", "nobody@acme.example", "vans@acme.example", "admin@rival.example"} {
		company, user, err := store.FindUser(t.Context(), email)
		fatal.If(t, err)
		grant, err := store.Issue(t.Context(), domain.Whole(company), user.Email, time.Hour)
		fatal.If(t, err)
		name, host, _ := strings.Cut(email, "@")
		if host == "rival.example" {
			name = "rival"
		}
		all[name] = string(grant.Token)
	}
	return all
}
