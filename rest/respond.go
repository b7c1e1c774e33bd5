package rest

import (
	"net/http"
	"strconv"
)

// respond writes a whole answer; nothing of its body for HEAD.
func respond(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if status != http.StatusNoContent {
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// An error means that the caller has gone.
		_, _ = w.Write(body)
	}
}

// wrap puts content under the property.
func wrap(property string, content []byte) []byte {
	body := make([]byte, 0, len(property)+len(content)+5)
	body = append(append(append(body, `{"`...), property...), `":`...)
	return append(append(body, content...), '}')
}
