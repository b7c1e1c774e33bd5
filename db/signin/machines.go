package signin

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
)

var _ signin.Machines = (*Store)(nil)

// clockLeeway is by how much the clock of an issuer may differ: so long after its end an
// assertion still counts as spent.
const clockLeeway = 2 * time.Minute

// ByAssertion implements signin.Machines. The tokens end with the user, and can do no more
// than the user may at the time.
func (s *Store) ByAssertion(ctx context.Context, from domain.Origin, assertion *signin.Assertion, wanted []domain.Permission) (grant *domain.Grant, err error) {
	company, err := s.companyOfMachine(ctx, assertion.Machine)
	if err != nil {
		return nil, err
	}
	scope := domain.Whole(company).By(&domain.Actor{Name: assertion.User.String(), Origin: from})
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			if err := s.spend(ctx, tx, company, assertion.ID, assertion.ExpiresAt.Sub(s.Now())+clockLeeway); err != nil {
				return err
			}
			grant, err = s.grant(ctx, tx, scope, assertion, wanted)
			return err
		})
	})
	return grant, inCompany(err, company)
}

// companyOfMachine finds the company in which a machine has its user. The user's address
// does not lead to it: people of any company may be users by that address.
func (s *Store) companyOfMachine(ctx context.Context, machine *signin.Machine) (domain.CompanyID, error) {
	if machine.Company != "" {
		company, err := s.companyOf(ctx, machine.Company)
		if err != nil {
			return 0, err
		}
		return company.CompanyID, nil
	}
	all, err := companies.New(s.pool).List(ctx)
	if err == nil && len(all) != 1 {
		err = &signin.Refusal{Why: signin.RefusedSetup, Message: "the operator has not named the company of this program, and there are several"}
	}
	if err != nil {
		return 0, err
	}
	return all[0].CompanyID, nil
}

func (s *Store) grant(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, assertion *signin.Assertion, wanted []domain.Permission) (*domain.Grant, error) {
	user, err := access.CompanyUser(ctx, tx, scope, assertion.User.String())
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		return nil, &signin.Refusal{Why: signin.RefusedSetup, Message: "the user of this program does not exist"}
	}
	if err != nil {
		return nil, err
	}
	if user.Disabled {
		return nil, &signin.Refusal{Why: signin.RefusedDisabled, Message: "the user of this program is disabled"}
	}
	held := slices.DeleteFunc(slices.Clone(assertion.Scopes), func(p domain.Permission) bool { return !slices.Contains(user.Permissions, p) })
	scopes, err := access.Grantable(wanted, held)
	if err != nil {
		return nil, err
	}
	return access.IssueToken(ctx, tx, scope, user, scopes, s.moment().Add(domain.TokenLifetime), true,
		domain.Became("issuer", assertion.Issuer), domain.Became("subject", assertion.Subject))
}
