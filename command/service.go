package command

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"simgraph/access"
	"simgraph/db"
	"simgraph/graph/transport"
	"simgraph/httpd"
	"simgraph/ingest"
	"simgraph/mail"
	"simgraph/resolvers"
	"simgraph/rest"
)

// service is everything that serve runs.
type service struct {
	log    *slog.Logger
	access *db.Access
	usage  *db.Usage
	live   *db.Live
	mail   *mail.Worker
	graph  *resolvers.Graph
	engine *transport.Server
	server *httpd.Server
	// upkeep is the ledger on connections whose statements have no time limit.
	upkeep *db.Usage
}

// newService puts the parts together. pool answers requests; upkeep runs long
// work; direct is the address of the database without a pooler before it.
func (s *Serve) newService(env *Env, pool, upkeep *sqlx.DB, direct string) (*service, error) {
	outbox := db.NewOutbox(pool, time.Now)
	worker, err := mail.New(mail.Config{
		Outbox: outbox, SMTPURL: s.SMTPURL, Dir: filepath.Join(env.DataDir, "mail"), From: s.MailFrom, PublicURL: s.PublicURL, Log: env.Log,
	})
	if err != nil {
		return nil, err
	}
	options := db.UsageOptions{Retention: s.Retention}
	v := &service{
		log: env.Log, access: db.NewAccess(pool), usage: newUsage(pool, options), upkeep: newUsage(upkeep, options),
		live: db.NewLive(pool, direct, env.Log), mail: worker,
	}
	v.graph = v.newGraph(pool)
	return v, v.open(s, pool, outbox)
}

func (v *service) newGraph(pool *sqlx.DB) *resolvers.Graph {
	return resolvers.New(resolvers.Ports{
		Subscribers: db.NewSubscribers(pool),
		Groups:      db.NewGroups(pool),
		Tags:        db.NewTags(pool),
		Catalogue:   db.NewCatalogue(pool),
		Access:      v.access,
		Usage:       v.usage,
		Analytics:   db.NewAnalytics(v.usage),
		Alerts:      db.NewAlerts(pool, time.Now),
		AlertLog:    db.NewAlertLog(pool),
		Recipients:  db.NewRecipients(pool, time.Now),
		Live:        v.live,
	}, time.Now)
}

// newUsage returns the ledger; what it books is held against the alerts.
func newUsage(pool *sqlx.DB, options db.UsageOptions) *db.Usage {
	return db.NewUsage(pool, db.NewAlertEvaluator(time.Now), options)
}

// open opens the doors.
func (v *service) open(s *Serve, pool *sqlx.DB, outbox *db.Outbox) error {
	page, err := s.page(pool)
	if err != nil {
		return err
	}
	page[mail.UnsubscribePath] = mail.UnsubscribeHandler(outbox)
	gate := access.NewGate(v.access, time.Now)
	page[ingest.Path] = ingest.New(ingest.Config{Usage: v.usage, Admit: gate.Admit, StillValid: gate.StillValid, Log: v.log})
	schema := v.graph.Schema()
	v.engine = transport.New(schema, transport.Config{
		Log:                    v.log,
		Present:                resolvers.Present,
		PerResponse:            v.graph.WithLoaders,
		AfterRootMutationField: resolvers.ForgetLoaded,
		Authenticate:           httpd.AdmitPayload(gate),
		StillValid:             gate.StillValid,
		Explorer:               page["/"],
	})
	paths, err := rest.New(rest.Config{
		Schema:       schema.Schema(),
		Prepare:      v.prepare,
		Authenticate: gate.Admit,
		RequestID:    transport.RequestID,
		Log:          v.log,
	})
	if err != nil {
		return err
	}
	page["/openapi.json"] = http.HandlerFunc(paths.ServeContract)
	health := &httpd.Health{Check: func(ctx context.Context) error { return db.Current(ctx, pool) }}
	handler := httpd.Handler(httpd.Doors{
		Graph: httpd.Graph(gate, v.engine), OAuth: access.NewOAuth(v.access, v.log), Health: health, Other: page, REST: paths,
	})
	v.server = &httpd.Server{Handler: handler, Health: health, Log: v.log, Close: v.engine.Close}
	return nil
}

// prepare reads a document of the REST paths for the engine.
func (v *service) prepare(document string) (rest.Run, error) {
	prepared, err := v.engine.Prepare(document)
	return func(ctx context.Context, variables map[string]any) *graphql.Response {
		return v.engine.Do(ctx, prepared, variables)
	}, err
}
