package httpd

import "net/http"

// security are headers of every answer; pages for people set their own.
var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	"Referrer-Policy":         "no-referrer",
	"X-Content-Type-Options":  "nosniff",
	"X-Frame-Options":         "DENY",
}

// hsts tells browsers to come by TLS only, for a year.
const hsts = "max-age=31536000"

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range security {
			h.Set(name, value)
		}
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", hsts)
		}
		next.ServeHTTP(w, r)
	})
}
