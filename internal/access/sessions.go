package access

import (
	"context"
	"net/http"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
)

// The names of the session cookie. __Host- keeps cookies that other hosts of the
// domain set from being taken for it; browsers accept that only over TLS.
const (
	secureCookie = "__Host-simgraph"
	plainCookie  = "simgraph-session"
)

// Sessions admits browsers by the cookie of their session.
type Sessions struct {
	site    Site
	store   signin.Sessions
	callers *callers
	now     func() time.Time
}

// NewSessions returns the sessions of the store for browsers of the site.
func NewSessions(store signin.Sessions, site Site, now func() time.Time) *Sessions {
	return &Sessions{site, store, newCallers(store.Authenticate, now), now}
}

// AdmitBrowser is Admit for requests that may come from a page of this server: one
// without a bearer token is admitted by the cookie of a session, when the browser
// certifies that a page of this server makes it.
func (g *Gate) AdmitBrowser(r *http.Request) (context.Context, error) {
	session := domain.Secret("")
	if g.Sessions != nil && len(r.Header.Values("Authorization")) == 0 {
		session = g.Sessions.Of(r)
	}
	if session == "" {
		return g.Admit(r)
	}
	if !g.Sessions.site.IsPage(r) {
		return nil, &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token: a session counts for requests of the page alone"}
	}
	ctx, err := g.admit(r.Context(), admission{g.Sessions.callers, session})
	if err == nil {
		g.Sessions.store.Used(session, g.Sessions.now())
	}
	return ctx, err
}

// IsPage reports whether a page of this server makes the request.
func (s *Sessions) IsPage(r *http.Request) bool { return s.site.IsPage(r) }

// Secure reports whether browsers reach the server over TLS.
func (s *Sessions) Secure(r *http.Request) bool { return s.site.secure(r) }

// Of returns the session that the request shows; "" for none, and for two of them.
func (s *Sessions) Of(r *http.Request) domain.Secret {
	if cookies := r.CookiesNamed(s.name(r)); len(cookies) == 1 {
		return domain.Secret(cookies[0].Value)
	}
	return ""
}

// Caller returns who holds the session, or an InvalidToken error.
func (s *Sessions) Caller(ctx context.Context, session domain.Secret) (*domain.Caller, error) {
	return s.callers.find(ctx, session)
}

// Give sets the cookie of a session that has begun, and ends the former one that it
// replaces; "" for none.
func (s *Sessions) Give(w http.ResponseWriter, r *http.Request, begun *signin.Begun, former domain.Secret) error {
	if former != "" {
		if err := s.end(r, former, false); err != nil {
			return err
		}
	}
	s.set(w, r, string(begun.Secret), int(begun.EndsAt.Sub(s.now()).Seconds()))
	return nil
}

// End ends the session of the request and its token, and has the browser forget it.
func (s *Sessions) End(w http.ResponseWriter, r *http.Request) error {
	if session := s.Of(r); session != "" {
		if err := s.end(r, session, true); err != nil {
			return err
		}
	}
	s.set(w, r, "", -1)
	return nil
}

func (s *Sessions) end(r *http.Request, session domain.Secret, tokenToo bool) error {
	err := s.store.End(r.Context(), domain.OriginOf(r.Context()), session, tokenToo)
	s.callers.forget(session)
	return err
}

func (s *Sessions) name(r *http.Request) string {
	if s.site.secure(r) {
		return secureCookie
	}
	return plainCookie
}

// set sends the cookie. Strict suffices: the page itself needs none, and what it
// requests is of the same site however people came to it.
func (s *Sessions) set(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.name(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: s.site.secure(r), SameSite: http.SameSiteStrictMode,
	})
}
