package httpd

import (
	"maps"
	"net/http"
)

// security are headers of every answer; pages for people set their own. The
// answers share the values, which Set and Add leave alone.
var security = http.Header{
	"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
	"Referrer-Policy":         {"no-referrer"},
	"X-Content-Type-Options":  {"nosniff"},
	"X-Frame-Options":         {"DENY"},
}

// hsts makes browsers use TLS only, for a year.
const hsts = "max-age=31536000"

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, security)
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", hsts)
		}
		// One that has a Content-Length too may be meant to be read in two ways, and
		// net/http has removed that header (RFC 9112, 6.1).
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			h.Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
