// Package httpd is the HTTP server: it leads requests to the endpoints, gives each
// request an id, reports health, and drains before it stops.
package httpd

import (
	"net/http"
	"slices"
	"strings"

	"simgraph/internal/access"
)

// Endpoints are what the server serves.
type Endpoints struct {
	// Graph answers /graphql.
	Graph Endpoint
	// OAuth answers /oauth/token and /oauth/revoke.
	OAuth *access.OAuth
	// Health answers /healthz and /readyz.
	Health *Health
	// Others are further routes, such as Pages.
	Others []Route
	// REST answers every other path, also the unknown ones.
	REST Endpoint
	// Around are wrapped around each endpoint, the first one outermost. Requests
	// have their ids by then.
	Around []Middleware
}

// Middleware wraps the handler of a route.
type Middleware func(route Route, next http.Handler) http.Handler

// Every returns the Middleware that wraps all routes alike.
func Every(wrap func(http.Handler) http.Handler) Middleware {
	return func(_ Route, next http.Handler) http.Handler { return wrap(next) }
}

func (e Endpoints) routes() []Route {
	return append([]Route{
		{Path: "/graphql", Name: "graphql", Endpoint: e.Graph},
		{Path: "/oauth/token", Name: "oauth", Endpoint: part{http.HandlerFunc(e.OAuth.Token), e.OAuth}},
		{Path: "/oauth/revoke", Name: "oauth", Endpoint: part{http.HandlerFunc(e.OAuth.Revoke), e.OAuth}},
		{Path: "/healthz", Name: "health", Endpoint: part{http.HandlerFunc(e.Health.Live), documented{}}, Probe: true},
		{Path: "/readyz", Name: "health", Endpoint: part{http.HandlerFunc(e.Health.Ready), documented{}}, Probe: true},
		{Path: "", Name: "rest", Endpoint: e.REST},
	}, e.Others...)
}

// top is the first part of a path with the slashes around it.
func top(path string) string {
	if end := strings.IndexByte(path[min(1, len(path)):], '/'); end >= 0 {
		return path[:end+2]
	}
	return path
}

// Handler leads each request to its endpoint. Paths are matched exactly: a mux
// would redirect unclean ones, and so turn one resource into another.
func Handler(e Endpoints) http.Handler {
	byPath, below := map[string]http.Handler{}, map[string]http.Handler{}
	for _, route := range e.routes() {
		byPath[route.Path] = e.handler(route)
		if route.Below {
			below[route.Path] = byPath[route.Path]
		}
	}
	return named(secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := byPath[r.URL.Path]
		if handler == nil {
			handler = below[top(r.URL.Path)]
		}
		if handler == nil {
			handler = byPath[""]
		}
		handler.ServeHTTP(w, r)
	})))
}

func (e Endpoints) handler(route Route) http.Handler {
	var handler http.Handler = http.HandlerFunc(route.serve)
	for _, around := range slices.Backward(e.Around) {
		handler = around(route, handler)
	}
	return handler
}

// Names are the names of the endpoints by their exact paths, for metrics and logs.
func (e Endpoints) Names() map[string]string {
	names := map[string]string{}
	for _, route := range e.routes() {
		if route.Path != "" {
			names[route.Path] = route.Name
		}
	}
	return names
}
