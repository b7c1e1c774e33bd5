package httpd

import (
	"context"
	"net/http"

	"simgraph/domain"
)

// Gated answers requests other than probes of health with 503 as long as check
// returns an error.
func Gated(check func(context.Context) error) Middleware {
	return func(route Route, next http.Handler) http.Handler {
		if route.Probe {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := check(r.Context()); err != nil {
				route.refuse(w, r, domain.Unavailable(err))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
