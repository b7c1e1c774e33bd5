package signin

import (
	"context"
	"time"

	"simgraph/domain"
)

const (
	// InvitationLifetime is how long an invitation can be used.
	InvitationLifetime = 7 * 24 * time.Hour
	// MaxInvitations bounds the invitations that are mailed to an address in an hour: one
	// that was typed wrong is somebody else's.
	MaxInvitations = 5
	// MaxInvitationsOfCompany bounds the invitations that a company mails in an hour.
	MaxInvitationsOfCompany = 100
	// MaxSessions bounds the live sessions of a user; those used longest ago end.
	MaxSessions = 50
)

// Invitation asks a user to sign in, by a link that signs in once.
type Invitation struct {
	User *domain.User
	// Code is what the link signs in by, where no mail is sent; "" where one is: then
	// nobody but the reader of the mail learns it.
	Code domain.Secret
}

// Accounts invites the users of a company to sign in, and ends their sessions. The
// callers are of the whole company, and have every permission of the user that they
// name, or the error is Forbidden.
type Accounts interface {
	// Invite ends the invitation that the user had, and makes another. Invalid for a
	// user that is disabled, and where nobody signs in by a link.
	Invite(ctx context.Context, caller *domain.Caller, email string) (*Invitation, error)
	// Withdraw ends the invitation of a user. One that has none is no error.
	Withdraw(ctx context.Context, caller *domain.Caller, email string) (*domain.User, error)
	// SessionsOf returns the live sessions of users by their number, those used last
	// first; at most MaxSessions of each.
	SessionsOf(ctx context.Context, scope domain.Scope, users []int64) (map[int64][]*Session, error)
	// EndSessions ends the session of that id, which must be one of the user, or all of
	// them where it is "", and links that sign in the user. It returns how many ended.
	EndSessions(ctx context.Context, caller *domain.Caller, email, id string) (*domain.User, int, error)
}
