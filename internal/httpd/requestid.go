package httpd

import (
	"crypto/rand"
	"net/http"
	"strings"

	"simgraph/graph/engine/transport"
)

const (
	requestIDHeader  = "X-Request-Id"
	longestRequestID = 64
)

// named gives each request an id, its own when it brings a sane one, and puts
// it into the answer, the errors and the log.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !saneRequestID(id) {
			id = rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(transport.WithRequestID(r.Context(), id)))
	})
}

// saneRequestID keeps what could forge lines of the log out of it.
func saneRequestID(id string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"
	return id != "" && len(id) <= longestRequestID && strings.Trim(id, allowed) == ""
}
