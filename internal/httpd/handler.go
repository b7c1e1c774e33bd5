// Package httpd is the HTTP server: it leads requests to the doors, names each
// request, tells of health, and drains on the way out.
package httpd

import (
	"net/http"
	"slices"

	"simgraph/internal/access"
)

// Doors are the ways into simgraph.
type Doors struct {
	// Graph answers /graphql.
	Graph http.Handler
	// OAuth answers /oauth/token and /oauth/revoke.
	OAuth *access.OAuth
	// Health answers /healthz and /readyz.
	Health *Health
	// Other are further paths by their exact name, such as the page for people.
	Other map[string]http.Handler
	// REST answers every other path, also the unknown ones.
	REST http.Handler
	// Around are wrapped around all doors, the first one outermost. Requests
	// have their ids by then.
	Around []func(http.Handler) http.Handler
}

// The paths of this package.
const (
	graphPath  = "/graphql"
	tokenPath  = "/oauth/token"
	revokePath = "/oauth/revoke"
	livePath   = "/healthz"
	readyPath  = "/readyz"
)

// Handler leads each request to its door. Paths are matched exactly: a mux would
// redirect unclean ones, and so turn one resource into another.
func Handler(d Doors) http.Handler {
	exact := map[string]http.Handler{
		graphPath:  d.Graph,
		tokenPath:  http.HandlerFunc(d.OAuth.Token),
		revokePath: http.HandlerFunc(d.OAuth.Revoke),
		livePath:   http.HandlerFunc(d.Health.Live),
		readyPath:  http.HandlerFunc(d.Health.Ready),
	}
	for path, door := range d.Other {
		exact[path] = door
	}
	names := d.Names()
	var all http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if door := exact[r.URL.Path]; door != nil {
			door.ServeHTTP(w, originated(r, names[r.URL.Path]))
			return
		}
		d.REST.ServeHTTP(w, originated(r, "rest"))
	})
	for _, around := range slices.Backward(d.Around) {
		all = around(all)
	}
	return named(secured(all))
}

// Names are the names of the doors by their exact paths, for metrics and logs.
func (d Doors) Names() map[string]string {
	names := map[string]string{
		graphPath: "graphql", tokenPath: "oauth", revokePath: "oauth", livePath: "health", readyPath: "health",
	}
	for path := range d.Other {
		names[path] = "page"
	}
	return names
}
