package main

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	keys "simgraph/db/access"
	"simgraph/db/usage"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/httpd"
	"simgraph/internal/problem"
	"simgraph/internal/stores"
	"simgraph/resolvers"
	"simgraph/rest"
)

// endpoints are GraphQL and REST on the pool, as the server opens them.
func endpoints(pool *sqlx.DB) (http.Handler, error) {
	log := slog.New(slog.DiscardHandler)
	store, records := keys.New(pool), usage.New(pool, nil, usage.Options{})
	ports := stores.Ports(pool, time.Now)
	ports.Access, ports.Usage, ports.Analytics = store, records, usage.NewAnalytics(records)
	graph := resolvers.New(ports, time.Now)
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
