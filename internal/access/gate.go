// Package access admits callers: it turns bearer tokens into callers, and access
// keys into tokens at the OAuth 2.0 endpoints.
package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/internal/flight"
)

const (
	// freshFor is how long a caller is believed without asking the store, so
	// that a revocation holds everywhere within 5 s.
	freshFor = 3 * time.Second
	// mostRemembered bounds the memory for callers.
	mostRemembered = 20_000
)

// Gate turns access tokens into callers. It remembers them for some seconds, so
// that a busy client costs the store one look-up every freshFor.
type Gate struct {
	// Admitted, unless nil, is called for every request that a token admits, with
	// the caller in the context; an error refuses it.
	Admitted func(ctx context.Context) error

	store domain.Access
	now   func() time.Time

	lookUps flight.Group[tokenHash, domain.Secret, *domain.Caller]
	mu      sync.RWMutex
	known   map[tokenHash]remembered
}

type tokenHash [sha256.Size]byte

type remembered struct {
	caller *domain.Caller
	until  time.Time
}

// NewGate returns a gate on the store; now is the clock.
func NewGate(store domain.Access, now func() time.Time) *Gate {
	g := &Gate{store: store, now: now, known: map[tokenHash]remembered{}}
	g.lookUps.Run = g.lookUp
	return g
}

// Caller returns who holds the token, or an InvalidToken error.
func (g *Gate) Caller(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	hash := tokenHash(sha256.Sum256([]byte(token)))
	if caller, ok := g.believed(hash); ok {
		return caller, nil
	}
	caller, err := g.lookUps.Do(ctx, hash, token)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, domain.Unavailable(err)
	}
	return caller, err
}

// believed returns the caller of a token that was looked up not long ago.
func (g *Gate) believed(hash tokenHash) (*domain.Caller, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	entry, ok := g.known[hash]
	return entry.caller, ok && g.now().Before(entry.until)
}

// lookUp asks the store for the caller of a token, unless a look-up has found it
// since it was asked for.
func (g *Gate) lookUp(ctx context.Context, hash tokenHash, tokens []domain.Secret) []flight.Result[*domain.Caller] {
	caller, ok := g.believed(hash)
	var err error
	if !ok {
		asked := g.now()
		caller, err = g.store.Authenticate(ctx, tokens[0])
		g.remember(hash, caller, asked)
	}
	return flight.Same(len(tokens), caller, err)
}

func (g *Gate) remember(key tokenHash, caller *domain.Caller, asked time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if caller == nil {
		delete(g.known, key)
		return
	}
	if len(g.known) >= mostRemembered {
		g.forgetStale(asked)
	}
	until := asked.Add(freshFor)
	if caller.ExpiresAt.Before(until) {
		until = caller.ExpiresAt
	}
	g.known[key] = remembered{caller, until}
}

// forgetStale makes room; when all are fresh, all are forgotten.
func (g *Gate) forgetStale(now time.Time) {
	for key, entry := range g.known {
		if !now.Before(entry.until) {
			delete(g.known, key)
		}
	}
	if len(g.known) >= mostRemembered {
		clear(g.known)
	}
}

// Admit returns the context of a request with its caller. The errors are those
// of RFC 6750: Unauthorized without a token, InvalidToken with a bad one.
func (g *Gate) Admit(r *http.Request) (context.Context, error) {
	token, err := bearer(r.Header)
	if err != nil {
		return nil, err
	}
	return g.AdmitToken(r.Context(), token)
}

// AdmitToken is Admit for a token that came another way, such as the payload of
// a WebSocket's connection_init.
func (g *Gate) AdmitToken(ctx context.Context, token domain.Secret) (context.Context, error) {
	caller, err := g.Caller(ctx, token)
	if err != nil {
		return nil, err
	}
	ctx = withToken(domain.WithCaller(ctx, caller.At(domain.OriginOf(ctx))), token)
	if g.Admitted != nil {
		if err := g.Admitted(ctx); err != nil {
			return nil, err
		}
	}
	return ctx, nil
}

// StillValid returns an error when the token that admitted the context would no
// longer do so. A store out of reach says nothing about the token.
func (g *Gate) StillValid(ctx context.Context) error {
	token, ok := ctx.Value(tokenKey{}).(domain.Secret)
	if !ok {
		return &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token"}
	}
	_, err := g.Caller(ctx, token)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalidToken {
		return err
	}
	return nil
}

type tokenKey struct{}

func withToken(ctx context.Context, token domain.Secret) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

func errNoToken() error {
	return &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token: Authorization: Bearer <ACCESS_TOKEN>"}
}

// bearer reads the one Authorization header (RFC 6750 §2.1).
func bearer(header http.Header) (domain.Secret, error) {
	values := header.Values("Authorization")
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "" {
		return "", errNoToken()
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if len(values) == 1 && !strings.EqualFold(scheme, "Bearer") { // no bearer token was given: RFC 6750 §3.1
		return "", errNoToken()
	}
	if len(values) > 1 || !ok || token == "" || strings.ContainsAny(token, " \t") {
		return "", &domain.Error{Kind: domain.KindInvalidToken, Message: "the Authorization header is not of the form: Bearer <ACCESS_TOKEN>"}
	}
	return domain.Secret(token), nil
}
