// Package access admits callers: it turns bearer tokens and the sessions of
// browsers into callers, and access keys into tokens at the OAuth 2.0 endpoints.
package access

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Gate turns access tokens and sessions into callers.
type Gate struct {
	// Admitted, unless nil, is called for every request that a credential admits,
	// with the caller in the context; an error refuses it.
	Admitted func(ctx context.Context) error
	// Sessions, unless nil, are those of browsers that AdmitBrowser lets in.
	Sessions *Sessions

	tokens *callers
}

// NewGate returns a gate on the store; now is the clock.
func NewGate(store domain.Access, now func() time.Time) *Gate {
	return &Gate{tokens: newCallers(store.Authenticate, now)}
}

// Caller returns who holds the token, or an InvalidToken error.
func (g *Gate) Caller(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	return g.tokens.find(ctx, token)
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
	return g.admit(ctx, admission{g.tokens, token})
}

func (g *Gate) admit(ctx context.Context, by admission) (context.Context, error) {
	caller, err := by.callers.find(ctx, by.credential)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(domain.WithCaller(ctx, caller.At(domain.OriginOf(ctx))), admissionKey{}, by)
	if g.Admitted != nil {
		if err := g.Admitted(ctx); err != nil {
			return nil, err
		}
	}
	return ctx, nil
}

// StillValid returns an error when the credential that admitted the context would
// no longer do so, or would with other rights: a stream keeps those that it began
// with. A store out of reach says nothing about it.
func (g *Gate) StillValid(ctx context.Context) error {
	by, ok := ctx.Value(admissionKey{}).(admission)
	if !ok {
		return &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token"}
	}
	now, err := by.callers.find(ctx, by.credential)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalidToken {
		return err
	}
	if began, _ := domain.CallerOf(ctx); err == nil && began != nil && !sameRights(began, now) {
		return &domain.Error{Kind: domain.KindInvalidToken, Message: "the rights of this user have changed: connect again"}
	}
	return nil
}

func sameRights(a, b *domain.Caller) bool {
	return sameItems(a.Permissions, b.Permissions) && sameItems(a.Scope.Groups, b.Scope.Groups) && sameItems(a.Scope.Masked, b.Scope.Masked) &&
		a.DocumentsOnly == b.DocumentsOnly
}

// sameItems ignores the order.
func sameItems[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

type admissionKey struct{}

// admission is what admitted a request, and where it is looked up.
type admission struct {
	callers    *callers
	credential domain.Secret
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
	if len(values) == 1 && !ascii.EqualFold(scheme, "Bearer") { // no bearer token was given: RFC 6750 §3.1
		return "", errNoToken()
	}
	if len(values) > 1 || !ok || token == "" || strings.ContainsAny(token, " \t") {
		return "", &domain.Error{Kind: domain.KindInvalidToken, Message: "the Authorization header is not of the form: Bearer <ACCESS_TOKEN>"}
	}
	return domain.Secret(token), nil
}
