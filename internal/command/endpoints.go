package command

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/export"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/changes"
	"simgraph/internal/httpd"
	"simgraph/internal/ingest"
	"simgraph/internal/intake"
	"simgraph/internal/problem"
	"simgraph/mcp"
	"simgraph/rest"
	"simgraph/scrape"
)

// endpoints builds the endpoints of a service.
type endpoints struct {
	*service
	serve     *Serve
	pool      *sqlx.DB
	gate      *access.Gate
	challenge problem.Challenge
}

// all returns the endpoints, among them those of the page by their paths.
func (e *endpoints) all(page map[string]http.Handler, streams *ingest.Handler) (*httpd.Endpoints, error) {
	paths, err := e.paths()
	if err != nil {
		return nil, err
	}
	page["/openapi.json"] = http.HandlerFunc(paths.ServeContract)
	tools, err := e.tools()
	if err != nil {
		return nil, err
	}
	numbers, err := e.numbers()
	if err != nil {
		return nil, err
	}
	exports, err := e.exports()
	if err != nil {
		return nil, err
	}
	oauth := access.NewOAuth(e.access, e.log)
	if e.machines != nil {
		oauth.Assertion = e.machines.Exchange
	}
	metadata, err := oauth.Metadata(e.serve.PublicURL, mcp.Path)
	if err != nil {
		return nil, err
	}
	uploads := changes.New(changes.Config{Operations: e.operations, Admit: e.gate.AdmitBrowser, Challenge: e.challenge, Log: e.log, Now: time.Now})
	return &httpd.Endpoints{
		Graph: httpd.Graph(e.gate, e.engine, e.challenge, e.log), OAuth: oauth, REST: paths,
		Others: slices.Concat(httpd.Pages(page), httpd.Pages(e.signIn.Handlers()), httpd.Pages(metadata), []httpd.Route{
			{Path: ingest.Path, Name: usageEndpoint, Endpoint: streams},
			{Path: mcp.Path, Name: "mcp", OwnPages: true, Endpoint: tools},
			{Path: scrape.Path, Name: "fleet", Endpoint: numbers},
			{Path: export.Prefix, Name: exportEndpoint, Below: true, Endpoint: exports},
			{Path: changes.Path, Name: "operations", Endpoint: uploads},
			{Path: intake.Prefix, Name: "sources", Below: true, Endpoint: intake.NewHandler(e.intake, e.log)},
		}),
	}, nil
}

// streams takes records of usage.
func (e *endpoints) streams() *ingest.Handler {
	return ingest.New(ingest.Config{
		Challenge: e.challenge,
		Usage:     e.ingested(), Sources: e.intake, Admit: e.gate.Admit, StillValid: e.gate.StillValid, Log: e.log,
		Streams: e.serve.UsageStreams, Bytes: e.serve.UsageStreamSize,
	})
}

// paths are those of REST.
func (e *endpoints) paths() (*rest.Handler, error) {
	return rest.New(rest.Config{
		Challenge:    e.challenge,
		Schema:       e.graph.Schema().Schema(),
		Prepare:      e.engine.Prepare,
		Authenticate: e.gate.AdmitBrowser,
		RequestID:    transport.RequestID,
		Routed:       e.telemetry.Routed,
		Log:          e.log,
		PublicURL:    strings.TrimRight(e.serve.PublicURL, "/"),
	})
}

// tools are those of agents.
func (e *endpoints) tools() (*mcp.Handler, error) {
	return mcp.New(mcp.Config{
		Challenge: problem.Challenge{Metadata: access.ResourceMetadata(e.serve.PublicURL, mcp.Path)},
		Schema:    e.graph.Schema().Schema(), Prepare: e.engine.Prepare,
		Own: newDocuments(e.pool).Tools, PrepareOwn: e.engine.PrepareLimited, Queries: e.serve.mcpQueries(),
		Authenticate: e.gate.Admit, RequestID: transport.RequestID, PublicURL: e.serve.PublicURL, Version: BuildVersion(), Log: e.log,
	})
}

// numbers are those of a fleet for Prometheus.
func (e *endpoints) numbers() (*scrape.Handler, error) {
	return scrape.New(scrape.Config{
		Challenge: e.challenge, Prepare: e.engine.Prepare, SubscribersByTariff: e.graph.Catalogue.SubscribersByTariff,
		Authenticate: e.gate.Admit, RequestID: transport.RequestID, Log: e.log,
	})
}

// exports are files of what a company has.
func (e *endpoints) exports() (*export.Handler, error) {
	exporter, err := e.newExporter(e.openSnapshot, audit.NewLog(e.pool), e.gate.StillValid)
	if err != nil {
		return nil, err
	}
	return &export.Handler{
		Exporter: exporter, Authenticate: e.gate.AdmitBrowser, Enter: e.limits.Export, RequestID: transport.RequestID, Challenge: e.challenge, Patience: exportPatience,
	}, nil
}
