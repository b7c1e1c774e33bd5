package httpd

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/internal/access"
)

// Origins are the sites whose pages may use this server from a browser, beside
// its own.
type Origins struct {
	site    access.Site
	all     bool
	allowed map[string]bool
}

// NewOrigins reads origins such as https://app.example, or * for all. publicURL
// is where people reach the server; "" leaves that to the Host of requests.
func NewOrigins(list []string, publicURL string) (*Origins, error) {
	o := &Origins{allowed: map[string]bool{}, site: access.NewSite(publicURL)}
	for _, text := range list {
		at, err := url.Parse(text)
		switch {
		case text == "*":
			o.all = true
		case err != nil || at.Host == "" || at.Scheme == "" || at.Scheme+"://"+at.Host != strings.TrimSuffix(text, "/"):
			return nil, fmt.Errorf("%q is no origin: write it as https://app.example", text)
		default:
			o.allowed[ascii.Lower(at.Scheme+"://"+at.Host)] = true
		}
	}
	return o, nil
}

func (o *Origins) allow(origin string) bool { return o.all || o.allowed[ascii.Lower(origin)] }

// What pages may send, and read beside the body.
const (
	corsMethods = "GET, HEAD, POST, PATCH, DELETE"
	corsHeaders = "Accept, Apollographql-Client-Name, Apollographql-Client-Version, Authorization, Content-Type, Graphql-Client-Name, Graphql-Client-Version, Last-Event-ID, Mcp-Protocol-Version, X-Request-Id, X-Write-Position"
	corsExposed = "Link, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count, X-Write-Position"
	corsMaxAge  = "600"
)

// Guard lets browsers decide which pages may read answers (CORS), and keeps WebSockets
// of other pages out, which browsers would let through. Clients that are no
// browsers send no Origin and are not concerned.
func (o *Origins) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if o.all || len(o.allowed) > 0 {
			h.Add("Vary", "Origin")
		}
		origin := r.Header.Get("Origin")
		if origin == "" || o.site.Is(r, origin) {
			next.ServeHTTP(w, r)
			return
		}
		allowed := o.allow(origin)
		if !allowed && isWebSocket(r) {
			documented{}.Refuse(w, r, domain.Forbidden("WebSockets from pages of %.200q are not allowed here", origin))
			return
		}
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", corsExposed)
		}
		if allowed && r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers", corsHeaders)
			h.Set("Access-Control-Max-Age", corsMaxAge)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Own refuses requests from pages of other sites at the routes that want it: they may have
// found the server by its name alone (DNS rebinding).
func (o *Origins) Own(route Route, next http.Handler) http.Handler {
	if !route.OwnPages {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !o.site.Is(r, origin) && !o.allow(origin) {
			route.refuse(w, r, domain.Forbidden("requests from pages of %.200q are not allowed here", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}
