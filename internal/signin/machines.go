package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/issuer"
)

// maxAssertion is how far ahead an assertion may end, with a minute for the clocks.
const maxAssertion = 16 * time.Minute

// Machines gives access tokens to programs that prove who they are by tokens of an issuer
// (RFC 7523).
type Machines struct {
	store   signin.Machines
	issuers map[string]*machinesOf
	log     *slog.Logger
	now     func() time.Time
}

// machinesOf are the programs of one issuer.
type machinesOf struct {
	issuer    *issuer.Issuer
	machines  []*signin.Machine
	audiences []string
}

// Machine is a program with the issuer that speaks for it.
type Machine struct {
	signin.Machine
	By *issuer.Issuer
}

// NewMachines returns them; nil for none.
func NewMachines(store signin.Machines, machines []*Machine, log *slog.Logger, now func() time.Time) *Machines {
	if len(machines) == 0 {
		return nil
	}
	all := &Machines{store, map[string]*machinesOf{}, log, now}
	for _, one := range machines {
		of := all.issuers[one.Issuer]
		if of == nil {
			of = &machinesOf{issuer: one.By}
			all.issuers[one.Issuer] = of
		}
		of.machines = append(of.machines, &one.Machine)
		of.audiences = append(of.audiences, one.Audience)
	}
	return all
}

// Exchange gives a token for an assertion. The errors are InvalidToken for an assertion
// that gets none, Invalid for scopes that are not held, and Unavailable where the issuer
// does not answer.
func (m *Machines) Exchange(ctx context.Context, from domain.Origin, assertion domain.Secret, wanted []domain.Permission) (*domain.Grant, error) {
	checked, err := m.check(ctx, string(assertion))
	if err != nil {
		return nil, m.refuse(ctx, from, "", err)
	}
	grant, err := m.store.ByAssertion(ctx, from, checked, wanted)
	if err != nil {
		return nil, m.refuse(ctx, from, checked.Subject, err)
	}
	return grant, nil
}

// check finds the machine that an assertion is of.
func (m *Machines) check(ctx context.Context, assertion string) (*signin.Assertion, error) {
	of := m.issuers[issuer.ClaimedBy(assertion)]
	if of == nil {
		return nil, &signin.Refusal{Why: signin.RefusedToken, Message: "the assertion is no signed token of an issuer that is known here"}
	}
	claims, err := of.issuer.Check(ctx, assertion, issuer.Expected{Audiences: of.audiences})
	if err != nil {
		return nil, err
	}
	if claims.ExpiresAt.After(m.now().Add(maxAssertion)) {
		return nil, &signin.Refusal{Why: signin.RefusedToken, Message: "the assertion ends more than 15 minutes from now"}
	}
	n := slices.IndexFunc(of.machines, func(one *signin.Machine) bool {
		return one.Subject == claims.Subject && slices.Contains(claims.Audience, one.Audience)
	})
	if n < 0 {
		return nil, &signin.Refusal{Why: signin.RefusedRule, Message: "no program is registered with this subject and audience"}
	}
	return &signin.Assertion{Machine: of.machines[n], ID: spendable(assertion, claims), ExpiresAt: claims.ExpiresAt}, nil
}

// spendable names an assertion: by the issuer and its jti or, without one, by what is
// signed. The signature does not count, as a signature of ECDSA can be written in two ways.
func spendable(assertion string, claims *issuer.Claims) domain.Secret {
	if claims.ID != "" {
		return domain.Secret(fmt.Sprintf("jti %q %q", claims.Issuer, claims.ID))
	}
	signed := assertion[:strings.LastIndexByte(assertion, '.')]
	return domain.Secret(fmt.Sprintf("assertion %x", sha256.Sum256([]byte(signed))))
}

// refuse counts for the audit log what is no fault of this service, and returns the error
// for the client.
func (m *Machines) refuse(ctx context.Context, from domain.Origin, subject string, err error) error {
	refusal, is := errors.AsType[*signin.Refusal](err)
	if fault, known := domain.AsError(err); !is && known {
		switch fault.Kind {
		case domain.KindInvalidToken:
			refusal, is = &signin.Refusal{Why: signin.RefusedToken, Message: fault.Message}, true
		case domain.KindInvalid:
			m.store.Refused(from, signin.Attempt{Company: domain.Installation, Way: signin.ByAssertion, Why: signin.RefusedRule, Subject: subject})
			return err
		}
	}
	if !is {
		return err
	}
	m.store.Refused(from, signin.Attempt{Company: refusal.Company, Way: signin.ByAssertion, Why: refusal.Why, Subject: subject})
	m.log.InfoContext(ctx, "an assertion was refused", "why", refusal.Why, "subject", subject, "requestId", from.RequestID, "reason", refusal.Message)
	return &domain.Error{Kind: domain.KindInvalidToken, Message: refusal.Message}
}
