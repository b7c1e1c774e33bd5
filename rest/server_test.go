package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"simgraph/access"
	"simgraph/bundle"
	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/graph/transport"
	"simgraph/httpd"
	"simgraph/resolvers"
	"simgraph/rest"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// clock is when the tests take place, so that answers are the same every day.
func clock() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// newServer returns all doors on a database that holds testdata/fleet.ndjson.
func newServer(t *testing.T, pool *sqlx.DB) http.Handler {
	t.Helper()
	load(t, pool)
	store := db.NewAccess(pool)
	gate := access.NewGate(store, time.Now)
	graph := resolvers.New(resolvers.Ports{
		Subscribers: db.NewSubscribers(pool),
		Groups:      db.NewGroups(pool),
		Tags:        db.NewTags(pool),
		Catalogue:   db.NewCatalogue(pool),
		Access:      store,
		Companies:   db.NewCompanies(pool),
		Usage:       usageStore(pool),
	}, clock)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	engine := transport.New(graph.Schema(), transport.Config{
		Log:                    log,
		Present:                resolvers.Present,
		PerResponse:            graph.WithLoaders,
		AfterRootMutationField: resolvers.ForgetLoaded,
	})
	t.Cleanup(engine.Close)
	paths, err := rest.New(rest.Config{
		Schema:       graph.Schema().Schema(),
		Prepare:      prepare(engine),
		Authenticate: gate.Admit,
		RequestID:    transport.RequestID,
		Log:          log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return httpd.Handler(httpd.Doors{
		Graph:  httpd.Graph(gate, engine),
		OAuth:  access.NewOAuth(store, log),
		Health: &httpd.Health{Check: func(ctx context.Context) error { return pool.PingContext(ctx) }},
		REST:   paths,
	})
}

func usageStore(pool *sqlx.DB) *db.Usage {
	return db.NewUsage(pool, nil, db.UsageOptions{Now: clock})
}

func prepare(engine *transport.Server) func(string) (rest.Run, error) {
	return func(document string) (rest.Run, error) {
		prepared, err := engine.Prepare(document)
		return func(ctx context.Context, variables map[string]any) *graphql.Response {
			return engine.Do(ctx, prepared, variables)
		}, err
	}
}

// load imports the companies of the tests and books some usage.
func load(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	file, err := os.Open("testdata/fleet.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stores := bundle.Stores{Importer: db.NewImporter(pool), Companies: db.NewCompanies(pool)}
	counts, err := stores.Import(t.Context(), bundle.NewReader(file), bundle.Options{
		BadLine: func(line *bundle.BadLine) { t.Error(line) },
	})
	if err != nil || counts.Failed() > 0 {
		t.Fatalf("import: %v, %v", counts, err)
	}
	company, err := db.NewCompanies(pool).FindExternal(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	results, err := usageStore(pool).Record(t.Context(), domain.Whole(company.CompanyID), usage())
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range results {
		if result.Err != nil {
			t.Fatalf("usage record %d: %v", i, result.Err)
		}
	}
}

// usage is what acme's subscribers used in this billing period and the last.
func usage() []domain.UsageRecord {
	record := func(id, subscriber, start string, out, in int64) domain.UsageRecord {
		at, _ := time.Parse(time.RFC3339, start)
		return domain.UsageRecord{
			RecordID: id, Source: "pgw-1", PhysicalID: subscriber, SessionID: "s-" + id,
			StartedAt: at, EndedAt: at.Add(15 * time.Minute), MobileOriginated: out, MobileTerminated: in, Protocol: "TCP",
		}
	}
	return []domain.UsageRecord{
		record("1", "8944500101", "2026-11-01T00:00:00Z", 1_000, 2_000),
		record("2", "8944500101", "2026-10-31T23:30:00Z", 5, 5),
		record("3", "300125010000001", "2026-11-20T10:05:00Z", 1<<39, 1<<39),
	}
}

// tokens returns access tokens of the users, by the first part of their
// e-mail address; that of rival's only user under "rival".
func tokens(t *testing.T, pool *sqlx.DB) map[string]string {
	t.Helper()
	store := db.NewAccess(pool)
	all := map[string]string{}
	for _, email := range []string{"admin@acme.example", "reader@acme.example", "nobody@acme.example", "vans@acme.example", "admin@rival.example"} {
		company, user, err := store.FindUser(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		grant, err := store.Issue(t.Context(), domain.Whole(company), user.Email, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		name, host, _ := strings.Cut(email, "@")
		if host == "rival.example" {
			name = "rival"
		}
		all[name] = string(grant.Token)
	}
	return all
}
