package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"simgraph/access"
	"simgraph/db"
	"simgraph/db/embedded"
	"simgraph/domain"
	"simgraph/graph/transport"
	"simgraph/httpd"
	"simgraph/resolvers"
	"simgraph/rest"
)

// Serve runs the server.
type Serve struct {
	Addr string `default:"127.0.0.1:8080" help:"The address to listen on."`
	Demo bool   `help:"Fill an empty database with a demo company, and print a token of it."`
}

// Help shows examples.
func (Serve) Help() string {
	return `simgraph serve --demo
simgraph serve --addr :8080 --database-url postgres://simgraph@db.example/simgraph`
}

// Run serves until ctx ends.
func (s *Serve) Run(ctx context.Context, env *Env) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server may have closed it
	url, done, err := env.database(ctx, stop)
	if err != nil {
		return err
	}
	defer done()
	pool, err := env.Connect(ctx, url, env.Timeout)
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", pool.Close()) }()
	page, err := s.page(pool)
	if err != nil {
		return err
	}
	server, err := newServer(env, pool, page)
	if err != nil {
		return err
	}
	if err := s.announce(ctx, env, pool, listener.Addr()); err != nil {
		return err
	}
	if err := server.Run(ctx, listener); err != nil {
		return err
	}
	return lost(ctx)
}

// errDatabaseStopped ends the server when the embedded database ends by itself.
var errDatabaseStopped = errors.New("the database stopped")

// lost returns why the context ended when it was not by a signal.
func lost(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errDatabaseStopped) {
		return cause
	}
	return nil
}

// database starts the embedded server, unless another one was named. When the
// embedded server ends by itself, stop is told why.
func (e *Env) database(ctx context.Context, stop context.CancelCauseFunc) (url string, done func(), err error) {
	if e.DatabaseURL != "" {
		return e.DatabaseURL, func() {}, nil
	}
	server, err := embedded.Start(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: "serve"})
	if err != nil {
		return "", nil, err
	}
	go func() {
		select {
		case <-server.Done():
			stop(fmt.Errorf("%w: %w", errDatabaseStopped, server.Err()))
		case <-ctx.Done():
		}
	}()
	return server.URL(), func() { e.warn("stop the database", server.Close()) }, nil
}

func newServer(env *Env, pool *sqlx.DB, page map[string]http.Handler) (*httpd.Server, error) {
	store := db.NewAccess(pool)
	gate := access.NewGate(store, time.Now)
	graph := newGraph(pool)
	schema := graph.Schema()
	engine := transport.New(schema, transport.Config{
		Log:                    env.Log,
		Present:                resolvers.Present,
		PerResponse:            graph.WithLoaders,
		AfterRootMutationField: resolvers.ForgetLoaded,
		Authenticate:           httpd.AdmitPayload(gate),
		StillValid:             gate.StillValid,
		Explorer:               page["/"],
	})
	paths, err := rest.New(rest.Config{
		Schema:       schema.Schema(),
		Prepare:      prepare(engine),
		Authenticate: gate.Admit,
		RequestID:    transport.RequestID,
		Log:          env.Log,
	})
	if err != nil {
		return nil, err
	}
	health := &httpd.Health{Check: func(ctx context.Context) error { return db.Current(ctx, pool) }}
	handler := httpd.Handler(httpd.Doors{
		Graph:  httpd.Graph(gate, engine),
		OAuth:  access.NewOAuth(store, env.Log),
		Health: health,
		Other:  page,
		REST:   paths,
	})
	return &httpd.Server{Handler: handler, Health: health, Log: env.Log, Close: engine.Close}, nil
}

// prepare reads a document of the REST paths for the engine.
func prepare(engine *transport.Server) func(document string) (rest.Run, error) {
	return func(document string) (rest.Run, error) {
		prepared, err := engine.Prepare(document)
		return func(ctx context.Context, variables map[string]any) *graphql.Response {
			return engine.Do(ctx, prepared, variables)
		}, err
	}
}

func newGraph(pool *sqlx.DB) *resolvers.Graph {
	usage := newUsage(pool)
	return resolvers.New(resolvers.Ports{
		Subscribers: db.NewSubscribers(pool),
		Groups:      db.NewGroups(pool),
		Tags:        db.NewTags(pool),
		Catalogue:   db.NewCatalogue(pool),
		Access:      db.NewAccess(pool),
		Usage:       usage,
		Analytics:   db.NewAnalytics(usage),
		Alerts:      db.NewAlerts(pool, time.Now),
		AlertLog:    db.NewAlertLog(pool),
		Recipients:  db.NewRecipients(pool, time.Now),
	}, time.Now)
}

// newUsage returns the ledger; what it books is held against the alerts.
func newUsage(pool *sqlx.DB) *db.Usage {
	return db.NewUsage(pool, db.NewAlertEvaluator(time.Now), db.UsageOptions{})
}

// announce says where the server is and how to try it.
func (s *Serve) announce(ctx context.Context, env *Env, pool *sqlx.DB, addr net.Addr) error {
	base := "http://" + addr.String()
	env.printf("simgraph is ready\n  Page     %s/\n  GraphQL  %s/graphql\n  REST     %s/docs\n", base, base, base)
	if !s.Demo {
		return nil
	}
	grant, err := demoToken(ctx, env, pool)
	if err != nil {
		return err
	}
	env.printf("\nLook around:\n  %s/#token=%s\n\nTry it:\n  curl -H 'Authorization: Bearer %s' '%s/subscribers?limit=3'\n", base, string(grant.Token), string(grant.Token), base)
	return nil
}

// demoToken returns a token of the demo company, which it loads into an empty
// database.
func demoToken(ctx context.Context, env *Env, pool *sqlx.DB) (*domain.Grant, error) {
	companies, err := db.NewCompanies(pool).List(ctx)
	if err != nil {
		return nil, err
	}
	if len(companies) == 0 {
		if err := loadDefaultDemo(ctx, env, pool); err != nil {
			return nil, err
		}
	}
	return issueDemoToken(ctx, pool)
}

func issueDemoToken(ctx context.Context, pool *sqlx.DB) (*domain.Grant, error) {
	store := db.NewAccess(pool)
	company, user, err := store.FindUser(ctx, demoAdmin)
	if err != nil {
		return nil, fmt.Errorf("the database holds other companies than the demo: serve it without --demo (%w)", err)
	}
	return store.Issue(ctx, domain.Whole(company), user.Email, 24*time.Hour)
}

// loadDefaultDemo loads what the command demo would.
func loadDefaultDemo(ctx context.Context, env *Env, pool *sqlx.DB) error {
	env.Log.Info("making up a demo company")
	options, err := (&Demo{Subscribers: 500, Days: 30, Seed: 1, Company: "demo"}).options(time.Now())
	if err != nil {
		return err
	}
	_, err = LoadDemo(ctx, env, pool, options)
	return err
}

// demoAdmin is the user of the demo company who may do everything.
const demoAdmin = "admin@demo.example"

// OneLine is the text of an error on one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
