package access

import (
	"net/http"
	"net/url"
	"strings"

	"simgraph/domain/ascii"
)

// Site is where browsers reach this server.
type Site struct {
	// origin is empty where only the Host of requests says it.
	origin string
	https  bool
}

// NewSite reads the public URL; "" leaves the origin to the Host of requests.
func NewSite(publicURL string) Site {
	at, err := url.Parse(publicURL)
	if err != nil || at.Host == "" {
		return Site{}
	}
	return Site{ascii.Lower(at.Scheme + "://" + at.Host), ascii.EqualFold(at.Scheme, "https")}
}

// Is reports whether an origin, as browsers send it, is this server: also its scheme,
// where that is known. Without TLS and a public URL a proxy may have either.
func (s Site) Is(r *http.Request, origin string) bool {
	if s.origin != "" && ascii.EqualFold(origin, s.origin) {
		return true
	}
	at, err := url.Parse(origin)
	if err != nil || at.Host == "" || !ascii.EqualFold(at.Host, r.Host) {
		return false
	}
	switch _, host, _ := strings.Cut(s.origin, "://"); {
	case host != "" && ascii.EqualFold(at.Host, host):
		return false // the scheme is another
	case r.TLS != nil:
		return ascii.EqualFold(at.Scheme, "https")
	}
	return ascii.EqualFold(at.Scheme, "https") || ascii.EqualFold(at.Scheme, "http")
}

// IsPage reports whether a browser certifies that a page of this server makes the
// request. Browsers send Sec-Fetch-Site over TLS and to this machine, and Origin
// with whatever is not a plain GET.
func (s Site) IsPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "":
		origin := r.Header.Get("Origin")
		return origin != "" && s.Is(r, origin)
	}
	return false
}

// secure reports whether browsers reach the server over TLS.
func (s Site) secure(r *http.Request) bool { return s.https || r.TLS != nil }
