package signin

import (
	"context"
	"time"

	"simgraph/domain"
)

// MaxMachines bounds the programs of other issuers of an installation.
const MaxMachines = 1000

// Machine is a program that proves who it is by tokens of an issuer, and acts as a user.
type Machine struct {
	Identity
	// Audience is what its tokens must be for.
	Audience string
	// User is the e-mail address of the user, in the company of that external id. ""
	// stands for the only company that there is.
	User    domain.Email
	Company string
	// Scopes are the most that the program may do, of what the user may.
	Scopes []domain.Permission
}

// Check refuses a machine that is not whole.
func (m *Machine) Check() error {
	switch {
	case m.Issuer == "" || m.Subject == "" || m.Audience == "":
		return domain.Invalid("machines", "a machine needs an issuer, a subject and an audience")
	case len(m.Scopes) == 0:
		return domain.Invalid("machines", "the machine %q needs scopes", m.Subject)
	}
	return nil
}

// Assertion is a token by which a machine has proved who it is.
type Assertion struct {
	*Machine
	// ID is the same for all copies of the token; it is good for one use.
	ID domain.Secret
	// ExpiresAt is until when the token could be used.
	ExpiresAt time.Time
}

// Machines gives access tokens to programs.
type Machines interface {
	// ByAssertion gives a token with the scopes that are wanted, or all that the machine
	// may have. The error is a Refusal where it gets none, and Invalid where a scope is
	// not held.
	ByAssertion(ctx context.Context, from domain.Origin, assertion *Assertion, wanted []domain.Permission) (*domain.Grant, error)
	// Refused counts an assertion that was refused, see Logins.
	Refused(from domain.Origin, attempt Attempt)
}
