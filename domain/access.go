package domain

import (
	"context"
	"slices"
	"time"
)

const (
	// TokenLifetime is how long an access token from POST /oauth/token lives.
	TokenLifetime = time.Hour
	// KeyLifetime is how long an access key lives by default.
	KeyLifetime = 365 * 24 * time.Hour
	// MaxKeyLifetime is the longest lifetime of a key.
	MaxKeyLifetime = 10 * 365 * 24 * time.Hour
)

// User is an account of a company that acts through access keys and tokens.
type User struct {
	UserID      int64
	Email       string
	Permissions []Permission
	// Groups are the groups that the user is attached to; none means that the
	// user sees the whole company.
	Groups   []int64
	Disabled bool
}

// AccessKey is a credential of a user that is exchanged for access tokens.
type AccessKey struct {
	AccessKeyID string
	UserEmail   string
	// Scopes are the permissions that the key passes on, at most the user's.
	Scopes     []Permission
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time
}

// Secret is a credential in clear, shown once to who made it and kept nowhere.
type Secret string

// String hides the credential from logs.
func (Secret) String() string { return "(secret)" }

// Grant is an access token as it is handed out.
type Grant struct {
	Token     Secret
	Scopes    []Permission
	ExpiresAt time.Time
}

// Caller is who makes a request, with the rights that hold now: what the key
// passes on and the user still has.
type Caller struct {
	UserID      int64
	Email       string
	Company     *Company
	Permissions []Permission
	Scope       Scope
	// AccessKeyID is the key that the token was made with; "" for none.
	AccessKeyID string
	// OfProgram is whether a program got the token by a key or an assertion, and not the
	// operator.
	OfProgram bool
	// Credential identifies the access token without giving it away: for
	// limits and the audit.
	Credential string
	// ExpiresAt is when the token ends.
	ExpiresAt time.Time
}

// May reports whether the caller has all of the permissions.
func (c *Caller) May(all ...Permission) bool { return c.missing(all) == "" }

// Need returns a Forbidden error that names the first missing permission.
func (c *Caller) Need(all ...Permission) error {
	if missing := c.missing(all); missing != "" {
		return Forbidden("this needs the permission %q", missing.Label())
	}
	return nil
}

func (c *Caller) missing(all []Permission) Permission {
	for _, p := range all {
		if !slices.Contains(c.Permissions, p) {
			return p
		}
	}
	return ""
}

// Access keeps users, access keys and access tokens. Secrets and tokens are
// stored as hashes only.
type Access interface {
	// Users lists the users of the company, ordered by e-mail.
	Users(ctx context.Context, scope Scope, page Page) (Slice[*User], error)
	CountUsers(ctx context.Context, scope Scope) (int, error)
	// FindUsers returns the users of the company with those e-mail addresses, as
	// they are stored, by address.
	FindUsers(ctx context.Context, scope Scope, emails []string) (map[string]*User, error)
	// FindUser finds a user of any company by e-mail, case-insensitively, and
	// the company; for the operator's commands. The error is Invalid where several
	// companies have one.
	FindUser(ctx context.Context, email string) (CompanyID, *User, error)

	// Keys lists the access keys of the company, newest first.
	Keys(ctx context.Context, scope Scope, page Page) (Slice[*AccessKey], error)
	CountKeys(ctx context.Context, scope Scope) (int, error)
	// FindKeys returns the access keys of the company with those ids, by id.
	FindKeys(ctx context.Context, scope Scope, ids []string) (map[string]*AccessKey, error)
	// CreateKey makes a key for the user with those scopes (none: all of the
	// user's permissions). The secret cannot be read again.
	CreateKey(ctx context.Context, scope Scope, email string, scopes []Permission, lifetime time.Duration) (*AccessKey, Secret, error)
	// RevokeKey ends a key and every token made with it.
	RevokeKey(ctx context.Context, scope Scope, accessKeyID string) (*AccessKey, error)
	// FindKey finds a key of any company; for the operator's commands.
	FindKey(ctx context.Context, accessKeyID string) (CompanyID, *AccessKey, error)

	// Exchange makes a token from a key, with those of the key's scopes that
	// are wanted (none: all). InvalidToken when key or secret is wrong.
	// The audit log keeps from where.
	Exchange(ctx context.Context, from Origin, accessKeyID string, secret Secret, wanted []Permission) (*Grant, error)
	// Issue makes a token of a user without a key; for the operator's commands.
	Issue(ctx context.Context, scope Scope, email string, lifetime time.Duration) (*Grant, error)
	// RevokeToken ends a token that was made with the key.
	RevokeToken(ctx context.Context, from Origin, accessKeyID string, secret Secret, token Secret) error
	// EndToken ends a token for its holder. One that is not live is no error.
	EndToken(ctx context.Context, from Origin, token Secret) error
	// Throttled counts an exchange that was refused before anybody looked at
	// the key that it names, if any.
	Throttled(from Origin, accessKeyID string)
	// NoteRefusals records in the audit log the exchanges and revocations that
	// were refused since the last call: an entry for each key, and one in each
	// company for the keys that there are not.
	NoteRefusals(ctx context.Context) error
	// Authenticate returns the caller behind a token, or InvalidToken.
	Authenticate(ctx context.Context, token Secret) (*Caller, error)
}

type callerKey struct{}

// WithCaller puts the caller into the context of a request.
func WithCaller(ctx context.Context, caller *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns who makes the request, or an Unauthorized error. Only the
// outer layers read it from the context; ports get the Scope.
func CallerOf(ctx context.Context) (*Caller, error) {
	if caller, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return caller, nil
	}
	return nil, &Error{Kind: KindUnauthorized, Message: "this needs an access token"}
}

// CallerWith returns who makes the request, or an Unauthorized error, or a Forbidden
// error that names the first needed permission that the caller does not have.
func CallerWith(ctx context.Context, needed ...Permission) (*Caller, error) {
	caller, err := CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := caller.Need(needed...); err != nil {
		return nil, err
	}
	return caller, nil
}

// Refusal is why an access key got no token. The client does not learn which it was.
type Refusal string

// The refusals, in the order in which they are looked for.
const (
	RefusedUnknownKey   Refusal = "unknownKey"
	RefusedWrongSecret  Refusal = "wrongSecret"
	RefusedRevoked      Refusal = "revoked"
	RefusedDisabledUser Refusal = "disabledUser"
	RefusedExpired      Refusal = "expired"
	RefusedScope        Refusal = "scopeNotHeld"
	// RefusedThrottled came too often to be looked at.
	RefusedThrottled Refusal = "throttled"
)

// Refusals are all of them.
var Refusals = []Refusal{
	RefusedUnknownKey, RefusedWrongSecret, RefusedRevoked, RefusedDisabledUser, RefusedExpired, RefusedScope, RefusedThrottled,
}
