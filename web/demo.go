package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// DemoToken makes an access token of the demo company.
type DemoToken func(ctx context.Context) (token string, expires time.Time, err error)

// offer is what a server offers to the page.
type offer struct {
	Demo bool `json:"demo"`
	// PublicURL is where clients reach the server; missing when that is not configured.
	PublicURL string `json:"publicUrl,omitempty"`
	// DocumentsOnly reports that the graph runs no texts.
	DocumentsOnly bool `json:"documentsOnly,omitempty"`
}

// Offers returns the handlers that answer what this server offers to the page, by
// their exact paths: /page.json and, when demo is not nil, /demo-token. publicURL is
// where clients reach the server; it may be empty. documentsOnly reports that the graph
// runs no texts. A nil demo is what every server but one in demo mode has.
func Offers(publicURL string, documentsOnly bool, demo DemoToken) map[string]http.Handler {
	handlers := map[string]http.Handler{
		"/page.json": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				wrongMethod(w, r)
				return
			}
			answer(w, http.StatusOK, offer{Demo: demo != nil && isLocal(r), PublicURL: publicURL, DocumentsOnly: documentsOnly})
		}),
	}
	if demo != nil {
		handlers["/demo-token"] = demo
	}
	return handlers
}

// ServeHTTP issues a token to requests from this machine. The name in the
// request is checked as well: without that, a page of another site could have
// its own name resolve to this machine and read the answer.
func (issue DemoToken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		answer(w, http.StatusMethodNotAllowed, oauthError("invalid_request", "use POST"))
		return
	case !isLocal(r):
		answer(w, http.StatusForbidden, oauthError("access_denied", "the demo token is for browsers on the machine of the server"))
		return
	}
	token, expires, err := issue(r.Context())
	if err != nil {
		answer(w, http.StatusServiceUnavailable, oauthError("temporarily_unavailable", "the demo company cannot be reached right now"))
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(time.Until(expires).Seconds()),
	})
}

func isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return isLoopbackName(host) && (site == "" || site == "same-origin")
}

func isLoopbackName(host string) bool {
	addr, err := netip.ParseAddr(trimBrackets(host))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

func oauthError(code, description string) map[string]string {
	return map[string]string{"error": code, "error_description": description}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
