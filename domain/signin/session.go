// Package signin is how people sign in: sessions of browsers, links that sign in
// once, and identities at providers.
package signin

import (
	"context"
	"time"

	"simgraph/domain"
)

// The ways of sessions; those by OpenID Connect have the name of the provider.
const (
	ByKey   = "accessKey"
	ByToken = "token"
	ByLink  = "link"
	// ByMailedLink is by a link that the user asked for.
	ByMailedLink = "mailedLink"
)

// ByAssertion is the way of programs, which have no sessions.
const ByAssertion = "assertion"

// Session is the session of a browser.
type Session struct {
	// ID names the session without giving it away.
	ID    string
	Email string
	Way   string
	// Address is where it was begun from; "" where that was not kept.
	Address   string
	CreatedAt time.Time
	// UsedAt is some seconds old.
	UsedAt time.Time
	// ExpiresAt is when it ends without use, EndsAt when it ends in any case.
	ExpiresAt, EndsAt time.Time
}

// Begun is a session with the secret for the cookie.
type Begun struct {
	Session
	Secret domain.Secret
}

// MaxListed bounds how many sessions of a company are listed.
const MaxListed = 1000

// Sessions keeps sessions of browsers. Their secrets are stored as hashes.
type Sessions interface {
	// ByKey begins a session by an access key, which it ends with; InvalidToken
	// when key or secret is wrong.
	ByKey(ctx context.Context, from domain.Origin, accessKeyID string, secret domain.Secret) (*Begun, error)
	// ByToken begins a session by an access token, which it ends with.
	ByToken(ctx context.Context, from domain.Origin, token domain.Secret) (*Begun, error)
	// Authenticate returns the caller behind a session, or InvalidToken.
	Authenticate(ctx context.Context, session domain.Secret) (*domain.Caller, error)
	// Used notes that a session was used, for Renew.
	Used(session domain.Secret, at time.Time)
	// Renew puts off the end of the sessions that were used since the last call.
	Renew(ctx context.Context) error
	// End ends a session for its holder, and with tokenToo the token that it was
	// begun with. One that is not live is no error.
	End(ctx context.Context, from domain.Origin, session domain.Secret, tokenToo bool) error

	// List lists the live sessions of a company, or of one of its users, those
	// used last first; at most MaxListed.
	List(ctx context.Context, scope domain.Scope, email string) ([]*Session, error)
	// EndAll ends sessions of a company, or of one of its users, or the one of
	// that id; "" leaves a condition out. It returns how many. Without an id, links that
	// sign in end too.
	EndAll(ctx context.Context, scope domain.Scope, email, id string) (int, error)
}
