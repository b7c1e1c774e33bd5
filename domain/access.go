package domain

import (
	"context"
	"regexp"
	"slices"
	"time"

	"simgraph/domain/query"
)

const (
	// TokenLifetime is how long an access token from POST /oauth/token lives.
	TokenLifetime = time.Hour
	// KeyLifetime is how long an access key lives by default.
	KeyLifetime = 365 * 24 * time.Hour
	// MaxKeyLifetime is the longest lifetime of a key.
	MaxKeyLifetime = 10 * 365 * 24 * time.Hour
)

// UserGroupsField is how errors name the groups that a user is attached to.
const UserGroupsField = "groupIds"

// User is an account of a company that acts through access keys and tokens.
type User struct {
	UserID      int64
	Email       string
	Permissions []Permission
	// Groups are the groups that the user is attached to; none means that the
	// user sees the whole company.
	Groups   []int64
	Disabled bool
	// SignedInAt is when a session of the page was last begun; nil for never.
	SignedInAt *time.Time
	// Invitation is one that was not used yet; nil for none.
	Invitation *UserInvitation
}

// Version changes with what can be edited.
func (u *User) Version() string { return VersionOf(u.Permissions, u.Groups, u.Disabled) }

// UserInvitation says that a user was asked to sign in, and until when the link does.
type UserInvitation struct{ InvitedAt, ExpiresAt time.Time }

// AccessKey is a credential of a user that is exchanged for access tokens.
type AccessKey struct {
	AccessKeyID string
	KeyLabel
	// RotatedFrom is the key that this one took over from; nil for one made anew.
	RotatedFrom *string
	UserEmail   string
	// Scopes are the permissions that the key passes on, at most the user's.
	Scopes []Permission
	// DocumentsOnly reports that its tokens run trusted documents alone on the graph.
	DocumentsOnly bool
	CreatedAt     time.Time
	ExpiresAt     time.Time
	RevokedAt     *time.Time
	LastUsedAt    *time.Time
}

// Version changes with what can be edited.
func (k *AccessKey) Version() string { return VersionOf(k.KeyLabel, k.DocumentsOnly) }

// KeyLabel is what a key is called, and what uses it for what. Both may be empty.
type KeyLabel struct{ Name, Purpose string }

// Check refuses texts over 256 characters, and those with characters that are not seen.
func (l KeyLabel) Check() error {
	if err := checkText("name", l.Name, 0, MaxName); err != nil {
		return err
	}
	return checkText("purpose", l.Purpose, 0, MaxName)
}

// KeySpec is a key to be made.
type KeySpec struct {
	KeyLabel
	// Email is that of the user that the key acts for.
	Email string
	// Scopes are the permissions that the key passes on; none for all of the user's.
	Scopes []Permission
	// DocumentsOnly limits what its tokens run on the graph to trusted documents.
	DocumentsOnly bool
	Lifetime      time.Duration
}

// KeyEdit is what changes on a key; nil stays as it is.
type KeyEdit struct {
	Name, Purpose *string
	DocumentsOnly *bool
}

// Apply returns the label as it is after the edit.
func (e KeyEdit) Apply(l KeyLabel) KeyLabel {
	if e.Name != nil {
		l.Name = *e.Name
	}
	if e.Purpose != nil {
		l.Purpose = *e.Purpose
	}
	return l
}

// KeyRotation is how a key hands over to a new one.
type KeyRotation struct {
	// OldEndsAt is when the old key ends, unless it ends before that anyway.
	OldEndsAt time.Time
	// Lifetime is that of the new key.
	Lifetime time.Duration
}

// Check refuses a rotation that no key can take at that time.
func (r KeyRotation) Check(now time.Time) error {
	if !r.OldEndsAt.After(now) {
		return Invalid("oldEndsAt", "the old key must end in the future: revoke it to end it now")
	}
	return CheckKeyLifetime(r.Lifetime)
}

// CheckKeyLifetime refuses what no key can live.
func CheckKeyLifetime(lifetime time.Duration) error {
	if lifetime <= 0 || lifetime > MaxKeyLifetime {
		return Invalid("lifetime", "a key lives at least a second and at most ten years")
	}
	return nil
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
	// DocumentsOnly is whether the caller may run trusted documents alone on the graph.
	DocumentsOnly bool
	// OfProgram is whether a program got the token by a key or an assertion, and not the
	// operator.
	OfProgram bool
	// Credential identifies the access token without giving it away: for
	// limits and the audit.
	Credential string
	// ExpiresAt is when the token ends.
	ExpiresAt time.Time
}

// WithReason returns the caller as one who changes something for the reason.
func (c *Caller) WithReason(reason string) *Caller {
	by := *c
	by.Scope.Reason = reason
	return &by
}

// nobody is the number of no user: it has made nothing and owns nothing.
const nobody = -1

// WithoutSession returns the caller without what differs between sessions of a user: for
// what all of them may share.
func (c *Caller) WithoutSession() *Caller {
	user := *c
	user.AccessKeyID, user.Credential, user.ExpiresAt = "", "", time.Time{}
	user.Scope.Actor = &Actor{UserID: c.UserID, Name: c.Email}
	return &user
}

// WithoutIdentity returns the rights of the caller alone, as those of nobody: for what all
// users with these rights may share.
func (c *Caller) WithoutIdentity() *Caller {
	rights := c.WithoutSession()
	rights.UserID, rights.Email, rights.OfProgram = nobody, "", false
	rights.Scope.Actor = &Actor{UserID: nobody}
	return rights
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
	// Users lists the users of the company, ordered by e-mail unless the listing has another order.
	Users(ctx context.Context, scope Scope, listing Listing) (Slice[*User], error)
	CountUsers(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindUsers returns the users of the company with those e-mail addresses, as
	// they are stored, by address.
	FindUsers(ctx context.Context, scope Scope, emails []string) (map[string]*User, error)
	// FindUser finds a user of any company by e-mail, case-insensitively, and
	// the company; for the operator's commands. The error is Invalid where several
	// companies have one.
	FindUser(ctx context.Context, email string) (CompanyID, *User, error)

	// Keys lists the access keys of the company, newest first unless the listing has another order.
	Keys(ctx context.Context, scope Scope, listing Listing) (Slice[*AccessKey], error)
	CountKeys(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindKeys returns the access keys of the company with those ids, by id.
	FindKeys(ctx context.Context, scope Scope, ids []string) (map[string]*AccessKey, error)
	// CreateKey makes a key. The secret cannot be read again.
	CreateKey(ctx context.Context, scope Scope, spec KeySpec) (*AccessKey, Secret, error)
	// EditKey changes what a key is called, and whether it is limited to trusted documents:
	// within five seconds for its tokens too.
	EditKey(ctx context.Context, scope Scope, accessKeyID string, edit KeyEdit) (*AccessKey, error)
	// RotateKey makes a key of the same user, label and scopes, and sets when the old one
	// ends: both work until then. Invalid for a key that has ended. The secret is that of
	// the new key, and cannot be read again.
	RotateKey(ctx context.Context, scope Scope, accessKeyID string, rotation KeyRotation) (old, made *AccessKey, secret Secret, err error)
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

// UserFields are what users can be filtered and ordered by.
var UserFields = query.NewFields(
	query.Field{Name: "email", Type: query.Text},
	query.Field{Name: "isDisabled", Type: query.Boolean},
)

// KeyFields are what access keys can be filtered and ordered by.
var KeyFields = query.NewFields(
	query.Field{Name: "accessKeyId", Type: query.Text},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "purpose", Type: query.Text},
	query.Field{Name: "rotatedFrom", Type: query.Text},
	query.Field{Name: "userEmail", Type: query.Text},
	query.Field{Name: "isDocumentsOnly", Type: query.Boolean},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "expiresAt", Type: query.Time},
	query.Field{Name: "revokedAt", Type: query.Time},
	query.Field{Name: "lastUsedAt", Type: query.Time},
)

const (
	// MaxSQLRoles is how many SQL roles a company may have.
	MaxSQLRoles = 20
	// MaxSQLRoleGroups is how many groups an SQL role may be held to.
	MaxSQLRoleGroups = 1_000
	// MaxSQLRoleConnections is how many connections an SQL role may have at once.
	MaxSQLRoleConnections = 50
	// MaxSQLRoleStatement is the longest that a statement of an SQL role may be given.
	MaxSQLRoleStatement = time.Hour
)

// SQLRole is a login of PostgreSQL that reads the documented views of a company.
type SQLRole struct {
	// Name is that of the role, which no other role of the server has.
	Name string
	// Groups are those that the role sees; the whole company when empty.
	Groups []int64
	// SeesTariffs reports that it sees tariffs that groups hide.
	SeesTariffs bool
	// Statement is the longest that a statement may run, in whole seconds. Transactions
	// may take twice as long.
	Statement time.Duration
	// Connections is how many it may have at once.
	Connections int
	CreatedAt   time.Time
	// IsMissing reports that this server has no such role, as after a restore.
	IsMissing bool
}

// PostgreSQL cuts names after 63 bytes, and keeps those that begin with pg_ for itself.
var sqlRoleName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Check returns an Invalid error for a role that cannot be made.
func (r *SQLRole) Check() error {
	switch {
	case !sqlRoleName.MatchString(r.Name) || len(r.Name) >= 3 && r.Name[:3] == "pg_":
		return Invalid("name", "a name begins with a letter from a to z, has only such letters, digits and _, at most 63 characters, and does not begin with pg_: not %q", r.Name)
	case len(r.Groups) > MaxSQLRoleGroups:
		return Invalid("groups", "a role can be held to at most %d groups", MaxSQLRoleGroups)
	case r.Statement < time.Second || r.Statement > MaxSQLRoleStatement || r.Statement%time.Second != 0:
		return Invalid("statement", "a statement may run for 1s to %s, in whole seconds", MaxSQLRoleStatement)
	case r.Connections < 1 || r.Connections > MaxSQLRoleConnections:
		return Invalid("connections", "a role may have 1 to %d connections", MaxSQLRoleConnections)
	}
	return nil
}
