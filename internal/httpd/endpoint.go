package httpd

import (
	"net/http"

	"simgraph/graph/engine/transport"
	"simgraph/internal/problem"
)

// Endpoint serves the requests of its paths.
type Endpoint interface {
	http.Handler
	refuser
}

// refuser answers a request that is not served, such as one beyond a limit, in
// the shape of its endpoint. The error is of the domain.
type refuser interface {
	Refuse(w http.ResponseWriter, r *http.Request, err error)
}

// Route leads requests to an endpoint by their exact path.
type Route struct {
	// Path is "" for the endpoint of all paths that have no other.
	Path string
	// Below is set where Path, which ends in /, leads also what is below it.
	Below bool
	// Name is that of the endpoint in metrics, in the log and in the audit log.
	Name     string
	Endpoint Endpoint
	// Probe requests are served whatever the limits and gates say.
	Probe bool
	// OwnPages is set where pages of other sites are refused that Origins does not allow.
	OwnPages bool
}

func (route Route) serve(w http.ResponseWriter, r *http.Request) {
	route.Endpoint.ServeHTTP(w, originated(r, route.Name))
}

func (route Route) refuse(w http.ResponseWriter, r *http.Request, err error) {
	route.Endpoint.Refuse(w, originated(r, route.Name), err)
}

// part is an Endpoint that shares its refusals with others.
type part struct {
	http.Handler
	refuser
}

// Pages returns the routes of the page for people and of what belongs to it.
func Pages(handlers map[string]http.Handler) []Route {
	routes := make([]Route, 0, len(handlers))
	for path, handler := range handlers {
		routes = append(routes, Route{Path: path, Name: "page", Endpoint: part{handler, documented{}}})
	}
	return routes
}

// documented refuses as the documented paths do.
type documented struct{}

func (documented) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem.Of(err).Write(w, r, transport.RequestID(r.Context()))
}
