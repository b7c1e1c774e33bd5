package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
	"simgraph/domain/signin"
)

// stateFor is how long states are kept that have begun a session: longer than a sign-in
// may take.
const stateFor = time.Hour

// ByProvider implements signin.Logins.
func (s *Store) ByProvider(ctx context.Context, from domain.Origin, login *signin.Login) (begun *signin.Begun, err error) {
	company, err := s.companyOf(ctx, login.Company)
	if err != nil {
		return nil, err
	}
	scope := domain.Whole(company.CompanyID).By(&domain.Actor{Name: "provider " + login.Provider, Origin: from})
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			if err := s.spend(ctx, tx, cmp.Or(login.SpentIn, company.CompanyID), login.State, stateFor); err != nil {
				return err
			}
			user, entry, err := s.account(ctx, tx, scope, login)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, storeIdentity, company.CompanyID, login.Issuer, login.Subject, user.UserID, s.moment()); err != nil {
				return err
			}
			begun, err = s.beginIn(ctx, tx, &origin{
				company: company.CompanyID, userID: user.UserID, email: user.Email, way: login.Provider, from: from, login: login, before: entry,
			})
			return err
		})
	})
	return begun, inCompany(err, company.CompanyID)
}

// Offers implements signin.Logins.
func (s *Store) Offers(ctx context.Context, login *signin.Login, rights []signin.Rights) (offers []signin.Offer, err error) {
	found, refusal, err := unrefused(rights, func(of signin.Rights) (*signin.Offer, error) { return s.offer(ctx, login, of) })
	if err != nil {
		return nil, err
	}
	for _, offer := range found {
		if offer != nil {
			offers = append(offers, *offer)
		}
	}
	if len(offers) == 0 && refusal != nil {
		return nil, refusal
	}
	return offers, nil
}

const groupsThere = `SELECT count(*) FROM groups WHERE company_id = $1 AND group_id = ANY($2)`

// offer returns the company of the rights, or the refusal that ByProvider would return.
// It writes nothing.
func (s *Store) offer(ctx context.Context, login *signin.Login, rights signin.Rights) (*signin.Offer, error) {
	company, err := s.companyOf(ctx, rights.Company)
	if err != nil {
		return nil, err
	}
	scope := domain.Whole(company.CompanyID)
	user, err := s.known(ctx, s.pool, scope, login.Identity)
	if err == nil && user == nil {
		_, err = s.newcomer(ctx, s.pool, scope, login)
	}
	if err != nil {
		return nil, inCompany(err, company.CompanyID)
	}
	named := slices.Compact(slices.Sorted(slices.Values(rights.Groups)))
	if there, err := pg.Count(ctx, s.pool, groupsThere, company.CompanyID, pq.Array(named)); err != nil || there < len(named) {
		return nil, cmp.Or(err, inCompany(wrongSetup(), company.CompanyID))
	}
	return &signin.Offer{Rights: rights, CompanyID: company.CompanyID, Name: company.Name}, nil
}

// inCompany notes in a refusal whose it is.
func inCompany(err error, company domain.CompanyID) error {
	if refusal, is := errors.AsType[*signin.Refusal](err); is {
		refusal.Company = company
	}
	return err
}

// companyOf finds the company that a rule, or a machine, names.
func (s *Store) companyOf(ctx context.Context, externalID string) (*domain.Company, error) {
	company, err := companies.New(s.pool).FindExternal(ctx, externalID)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		return nil, wrongSetup()
	}
	return company, err
}

func wrongSetup() *signin.Refusal {
	return &signin.Refusal{Why: signin.RefusedSetup, Message: "The rule that gives you access names a company or a group that does not exist. Ask your administrator to correct it."}
}

const spendToken = `
INSERT INTO spent_tokens (company_id, digest, expires_at)
VALUES ($1, $2, $3)
ON CONFLICT (company_id, digest) DO NOTHING
RETURNING 1`

const dropSpent = `DELETE FROM spent_tokens WHERE company_id = $1 AND expires_at < $2`

// spend notes the use of what is good for one, and refuses another.
func (s *Store) spend(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, token domain.Secret, lifetime time.Duration) error {
	if _, err := tx.ExecContext(ctx, dropSpent, company, s.moment()); err != nil {
		return err
	}
	first, err := pg.Returned(ctx, tx, spendToken, company, credential.Hash(token), s.moment().Add(lifetime))
	if err == nil && first == 0 {
		err = &signin.Refusal{Why: signin.RefusedUsed, Message: "This sign-in was used before. Sign in again."}
	}
	return err
}

const findIdentity = `
SELECT u.email
FROM user_identities i
JOIN users u ON u.company_id = i.company_id AND u.user_id = i.user_id
WHERE i.company_id = $1 AND i.issuer = $2 AND i.subject = $3`

const storeIdentity = `
INSERT INTO user_identities (company_id, issuer, subject, user_id, created_at, login_at)
VALUES ($1, $2, $3, $4, $5, $5)
ON CONFLICT (company_id, issuer, subject) DO UPDATE SET login_at = excluded.login_at`

const identitiesOfUser = `SELECT count(*) FROM user_identities WHERE company_id = $1 AND user_id = $2`

// account returns the user that the person is, with the rights of the login, and the
// entry of the audit log for what was changed. The lock of the company is taken only
// where something is.
func (s *Store) account(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, login *signin.Login) (*domain.User, *domain.AuditEntry, error) {
	user, err := s.known(ctx, tx, scope, login.Identity)
	if err != nil {
		return nil, nil, err
	}
	if user != nil && len(inventory.UserChanges(user, withRights(user, login.Rights))) == 0 {
		return user, nil, nil
	}
	if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
		return nil, nil, err
	}
	if user, err = s.known(ctx, tx, scope, login.Identity); err == nil && user == nil {
		user, err = s.newcomer(ctx, tx, scope, login)
	}
	if err != nil {
		return nil, nil, err
	}
	return storeRights(ctx, tx, scope, user, login.Rights)
}

// known returns the user that the identity is; nil for none.
func (s *Store) known(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, of signin.Identity) (*domain.User, error) {
	emails, err := pg.SelectValues[string](ctx, in, findIdentity, scope.Company, of.Issuer, of.Subject)
	if err != nil || len(emails) == 0 {
		return nil, err
	}
	user, err := access.CompanyUser(ctx, in, scope, emails[0])
	if err == nil && user.Disabled {
		err = &signin.Refusal{Why: signin.RefusedDisabled, Message: "Your account is disabled. Ask your administrator."}
	}
	return user, err
}

// newcomer returns the user that a person becomes who has never signed in: that of the
// e-mail address, where the provider may say so and nobody else is that user, or a new
// one, which is not stored yet.
func (s *Store) newcomer(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, login *signin.Login) (*domain.User, error) {
	if login.Email == (domain.Email{}) || !login.Create && !login.Link {
		return nil, &signin.Refusal{Why: signin.RefusedUnknown, Message: "You have no account here, and signing in makes none. Ask your administrator for one."}
	}
	user, err := access.CompanyUser(ctx, in, scope, login.Email.String())
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		if !login.Create {
			return nil, &signin.Refusal{Why: signin.RefusedUnknown, Message: "There is no account with your e-mail address. Ask your administrator for one."}
		}
		return &domain.User{Email: login.Email.String()}, nil
	}
	if err != nil {
		return nil, err
	}
	identities, err := pg.Count(ctx, in, identitiesOfUser, scope.Company, user.UserID)
	switch {
	case err != nil:
		return nil, err
	case !login.Link || identities > 0:
		return nil, emailTaken()
	case user.Disabled:
		return nil, &signin.Refusal{Why: signin.RefusedDisabled, Message: "Your account is disabled. Ask your administrator."}
	}
	return user, nil
}

func emailTaken() *signin.Refusal {
	return &signin.Refusal{Why: signin.RefusedEmail, Message: "An account with your e-mail address exists, and is not known to be yours. Ask your administrator."}
}

func withRights(user *domain.User, rights signin.Rights) *domain.User {
	now := *user
	now.Permissions, now.Groups = slices.Clone(rights.Permissions), slices.Clone(rights.Groups)
	return &now
}

// storeRights writes a user with the rights, under the lock of the company.
func storeRights(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, before *domain.User, rights signin.Rights) (*domain.User, *domain.AuditEntry, error) {
	after := withRights(before, rights)
	outcome, err := access.StoreUser(ctx, tx, scope, after)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalid {
		if fault.Field == domain.UserGroupsField {
			return nil, nil, wrongSetup()
		}
		return nil, nil, emailTaken()
	}
	if err != nil {
		return nil, nil, err
	}
	entry := &domain.AuditEntry{Action: domain.AuditUserEdit, SubjectType: "User", SubjectID: after.Email, Changes: inventory.UserChanges(before, after)}
	if outcome == domain.Created {
		entry.Action = domain.AuditUserCreate
	}
	if len(entry.Changes) == 0 && outcome != domain.Created {
		entry = nil
	}
	stored, err := access.CompanyUser(ctx, tx, scope, after.Email)
	return stored, entry, err
}

// sealedFor binds a refresh token to its session.
func sealedFor(company domain.CompanyID, session []byte) []byte {
	return fmt.Appendf(nil, "refresh %d %x", company, session)
}

// moment is now, as the database keeps it.
func (s *Store) moment() time.Time { return pg.Moment(s.Now()) }

// record writes entries of the audit log, as the last statements of a transaction.
func record(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, entries ...*domain.AuditEntry) error {
	for _, entry := range entries {
		if entry == nil {
			continue
		}
		if err := audit.Record(ctx, tx, scope, *entry); err != nil {
			return err
		}
	}
	return nil
}
