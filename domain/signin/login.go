package signin

import (
	"context"
	"time"

	"simgraph/domain"
)

// Identity is who a person is at a provider. An e-mail address is no identity.
type Identity struct{ Issuer, Subject string }

// Login is a person who has signed in at a provider.
type Login struct {
	Identity
	// Provider is the name of the provider.
	Provider string
	Rights
	// Email is the address that the provider vouches for; the zero value for none.
	Email domain.Email
	// Create and Link are whether the person may become a user, and one by the e-mail
	// address.
	Create, Link bool
	// State is what the sign-in was recognized by: it is good for one session. It is
	// kept in the company SpentIn, or in that of the rights where SpentIn is zero.
	State   domain.Secret
	SpentIn domain.CompanyID
	// RefreshToken and CheckAt are by what and when the provider is asked again; ""
	// and zero for never.
	RefreshToken domain.Secret
	CheckAt      time.Time
}

// Offer is a company that a person may sign in to.
type Offer struct {
	Rights
	CompanyID domain.CompanyID
	// Name is the name of the company.
	Name string
}

// Check is a session whose provider has to be asked again.
type Check struct {
	Identity
	Company domain.CompanyID
	// Session is the hash that the session is stored by.
	Session  []byte
	Provider string
	// RefreshToken is "" where it cannot be read any more.
	RefreshToken domain.Secret
}

// Logins begins sessions of people who have signed in at a provider, and goes on with
// them while the provider does.
type Logins interface {
	// ByProvider begins a session, with the rights of the login from now on. The error
	// is a Refusal where the person gets none.
	ByProvider(ctx context.Context, from domain.Origin, login *Login) (*Begun, error)
	// Offers returns which of the rights ByProvider would accept of the login now. The
	// error is the Refusal of the first where it would accept none.
	Offers(ctx context.Context, login *Login, rights []Rights) ([]Offer, error)
	// Refused counts a sign-in that was refused, for NoteRefusals.
	Refused(from domain.Origin, attempt Attempt)
	// NoteRefusals records in the audit log the sign-ins that were refused since the
	// last call.
	NoteRefusals(ctx context.Context) error

	// Due returns sessions whose provider has to be asked now, to this caller alone
	// for a minute.
	Due(ctx context.Context) ([]*Check, error)
	// Confirm goes on with a session: with those of the rights that are of its company,
	// unless nil, and the refresh token and time of the next check. The error is a
	// Refusal where none are, or the account does not allow it.
	Confirm(ctx context.Context, check *Check, rights []Rights, refreshToken domain.Secret, next time.Time) error
	// EndChecked ends the session, and with allOfPerson those of the identity. The
	// audit log keeps why.
	EndChecked(ctx context.Context, check *Check, why RefusalReason, allOfPerson bool) error
}

// RefusalReason is why a person was not signed in.
type RefusalReason string

// The reasons of refusals.
const (
	// RefusedAnswer: what came back is not the answer to a sign-in of this browser.
	RefusedAnswer RefusalReason = "answer"
	// RefusedToken: the provider's token does not stand a check.
	RefusedToken RefusalReason = "token"
	// RefusedByProvider: the provider refused the person.
	RefusedByProvider RefusalReason = "provider"
	// RefusedRule: no rule gives the person rights.
	RefusedRule RefusalReason = "noRule"
	// RefusedUnknown: the person is no user, and may not become one.
	RefusedUnknown RefusalReason = "noUser"
	// RefusedEmail: the e-mail address belongs to the user of another person.
	RefusedEmail RefusalReason = "emailTaken"
	// RefusedDisabled: the user is disabled.
	RefusedDisabled RefusalReason = "disabledUser"
	// RefusedSetup: the rule names a company or a group that there is not.
	RefusedSetup RefusalReason = "setup"
	// RefusedUsed: the sign-in has begun a session before.
	RefusedUsed RefusalReason = "used"
	// RefusedLink: there is no such link, or none any more.
	RefusedLink RefusalReason = "link"
)

// RefusalReasons are all of them.
var RefusalReasons = []RefusalReason{
	RefusedAnswer, RefusedToken, RefusedByProvider, RefusedRule, RefusedUnknown, RefusedEmail, RefusedDisabled, RefusedSetup, RefusedUsed, RefusedLink,
}

// Refusal is the error of a sign-in that is refused, in words for the person.
type Refusal struct {
	Why     RefusalReason
	Message string
	// Company is whose sign-in it was; the Installation where no rule names one.
	Company domain.CompanyID
}

func (r *Refusal) Error() string { return r.Message }

// Attempt is a sign-in that was refused.
type Attempt struct {
	// Company is the Installation where it is not known.
	Company domain.CompanyID
	// Way is the name of the provider, or ByLink.
	Way string
	Why RefusalReason
	// Subject is who the provider says that it was; "" where that is not known.
	Subject string
}
