package httpd

import (
	"context"
	"net/http"

	"simgraph/domain"
)

// Gated answers requests other than probes of health with 503 as long as check
// returns an error.
func Gated(check func(context.Context) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isProbe(r) {
				if err := check(r.Context()); err != nil {
					refuseAt(w, r, domain.Unavailable(err))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func isProbe(r *http.Request) bool { return r.URL.Path == livePath || r.URL.Path == readyPath }
