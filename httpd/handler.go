// Package httpd is the HTTP server: it leads requests to the doors, names each
// request, tells of health, and drains on the way out.
package httpd

import (
	"net/http"

	"simgraph/access"
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
}

// Handler leads each request to its door. Paths are matched exactly: a mux would
// redirect unclean ones, and so turn one resource into another.
func Handler(d Doors) http.Handler {
	exact := map[string]http.Handler{
		"/graphql":      d.Graph,
		"/oauth/token":  http.HandlerFunc(d.OAuth.Token),
		"/oauth/revoke": http.HandlerFunc(d.OAuth.Revoke),
		"/healthz":      http.HandlerFunc(d.Health.Live),
		"/readyz":       http.HandlerFunc(d.Health.Ready),
	}
	for path, door := range d.Other {
		exact[path] = door
	}
	return named(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if door := exact[r.URL.Path]; door != nil {
			door.ServeHTTP(w, r)
			return
		}
		d.REST.ServeHTTP(w, r)
	}))
}
