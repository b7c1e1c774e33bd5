package main

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	keys "simgraph/db/access"
	"simgraph/db/alert"
	"simgraph/db/condition"
	"simgraph/db/dashboard"
	"simgraph/db/delivery"
	"simgraph/db/feed"
	"simgraph/db/note"
	"simgraph/db/silence"
	"simgraph/db/usage"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/httpd"
	"simgraph/internal/problem"
	"simgraph/resolvers"
	"simgraph/rest"
)

// endpoints are GraphQL and REST on the pool, as the server opens them.
func endpoints(pool *sqlx.DB) (http.Handler, error) {
	log := slog.New(slog.DiscardHandler)
	store, records := keys.New(pool), usage.New(pool, nil, usage.Options{})
	graph := resolvers.New(resolvers.Ports{
		Subscribers: db.NewSubscribers(pool), Groups: db.NewGroups(pool), Tags: db.NewTags(pool), Catalogue: db.NewCatalogue(pool),
		Access: store, Usage: records, Analytics: usage.NewAnalytics(records), VolumeAlerts: db.NewVolumeAlerts(pool, time.Now), Sessions: feed.NewSessions(pool), Feed: feed.NewState(pool),
		Alerts: alert.NewAlerts(pool), AlertLog: alert.NewLog(pool),
		VolumeLog: db.NewVolumeLog(pool), Conditions: condition.New(pool, time.Now), Silences: silence.New(pool, time.Now), Deliveries: delivery.New(pool), Recipients: db.NewRecipients(pool, time.Now), Questions: db.NewQuestions(pool, time.Now), Notes: note.New(pool, time.Now), Dashboards: dashboard.New(pool, dashboard.Options{Now: time.Now}),
	}, time.Now)
	gate, schema := access.NewGate(store, time.Now), graph.Schema()
	engine := transport.New(schema, transport.Config{
		Log: log, Present: resolvers.Present, PerResponse: graph.WithLoaders, AfterRootMutationField: resolvers.ForgetLoaded,
	})
	paths, err := rest.New(rest.Config{
		Schema: schema.Schema(), Authenticate: gate.Admit, RequestID: transport.RequestID, Log: log,
		Prepare: engine.Prepare,
	})
	if err != nil {
		return nil, err
	}
	return httpd.Handler(httpd.Endpoints{
		Graph: httpd.Graph(gate, engine, problem.Challenge{}, log), OAuth: access.NewOAuth(store, log), Health: &httpd.Health{}, REST: paths,
	}), nil
}
