package inventory

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
)

// CreateUser implements inventory.Users.
func (s *Store) CreateUser(ctx context.Context, caller *domain.Caller, u domain.User) (*domain.User, error) {
	if err := inventory.WholeCompany(caller.Scope, "users"); err != nil {
		return nil, err
	}
	email, err := domain.ParseEmail("email", u.Email)
	if err != nil {
		return nil, err
	}
	u.Email = email.String()
	err = s.write(ctx, caller.Scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		by, err := access.Current(ctx, tx, caller)
		if err != nil {
			return nil, err
		}
		if err := inventory.CheckUser(by, &u); err != nil {
			return nil, err
		}
		outcome, err := access.StoreUser(ctx, tx, caller.Scope, &u)
		if err == nil && outcome != domain.Created {
			err = domain.Invalid("email", "the company has a user %q already", u.Email)
		}
		return &domain.AuditEntry{
			Action: domain.AuditUserCreate, SubjectType: "User", SubjectID: u.Email, Changes: inventory.UserChanges(&domain.User{}, &u),
		}, err
	})
	if err != nil {
		return nil, err
	}
	return s.user(ctx, caller.Scope, u.Email)
}

func (s *Store) user(ctx context.Context, scope domain.Scope, email string) (*domain.User, error) {
	found, err := s.access.FindUsers(ctx, scope, []string{email})
	if err == nil && found[email] == nil {
		err = domain.NotFound("userEmail", "user", email)
	}
	return found[email], err
}

const administrators = `
SELECT u.user_id FROM users u
WHERE u.company_id = $1 AND NOT u.disabled AND $2 = ANY(u.permissions)
  AND NOT EXISTS (SELECT FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = u.user_id)
LIMIT 1`

// EditUser implements inventory.Users. The lock of the company keeps others from
// changing the account meanwhile.
func (s *Store) EditUser(ctx context.Context, caller *domain.Caller, email string, edit func(*domain.User) error) (*domain.User, error) {
	if err := inventory.WholeCompany(caller.Scope, "users"); err != nil {
		return nil, err
	}
	address, err := domain.ParseEmail("userEmail", email)
	if err != nil {
		return nil, domain.NotFound("userEmail", "user", email)
	}
	email = address.String()
	err = s.write(ctx, caller.Scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		by, err := access.Current(ctx, tx, caller)
		if err != nil {
			return nil, err
		}
		before, err := access.CompanyUser(ctx, tx, caller.Scope, email)
		if err != nil {
			return nil, err
		}
		if err := caller.Scope.CheckVersion(before.Version()); err != nil {
			return nil, err
		}
		after := *before
		after.Permissions, after.Groups = slices.Clone(before.Permissions), slices.Clone(before.Groups)
		if err := edit(&after); err != nil {
			return nil, err
		}
		if err := inventory.CheckUserEdit(by, before, &after); err != nil {
			return nil, err
		}
		changes := inventory.UserChanges(before, &after)
		if len(changes) == 0 {
			return nil, nil
		}
		if _, err := access.StoreUser(ctx, tx, caller.Scope, &after); err != nil {
			return nil, err
		}
		return &domain.AuditEntry{Action: domain.AuditUserEdit, SubjectType: "User", SubjectID: email, Changes: changes},
			checkAdministered(ctx, tx, caller.Scope, before)
	})
	if err != nil {
		return nil, err
	}
	return s.user(ctx, caller.Scope, email)
}

// checkAdministered rejects the change of an administrator that leaves none.
func checkAdministered(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, before *domain.User) error {
	if !inventory.Administers(before) {
		return nil
	}
	left, err := pg.Returned(ctx, tx, administrators, scope.Company, string(domain.ViewUserDetails))
	if err == nil && left == 0 {
		err = domain.Invalid("userEmail", "%q is the last administrator of the company: an enabled user in no group with the permission %q must remain",
			before.Email, domain.ViewUserDetails.Label())
	}
	return err
}

// removals remove what is a user's alone. Sessions, links, identities and the invitation
// go with the account. A later user of the address gets another number.
var removals = []string{
	`DELETE FROM access_tokens WHERE company_id = $1 AND user_id = $2`,
	`DELETE FROM access_keys WHERE company_id = $1 AND user_id = $2`,
	`DELETE FROM questions WHERE company_id = $1 AND owner_id = $2 AND NOT is_shared`,
	`DELETE FROM dashboards WHERE company_id = $1 AND owner_id = $2 AND NOT is_shared`,
	`DELETE FROM user_groups WHERE company_id = $1 AND user_id = $2`,
	`DELETE FROM users WHERE company_id = $1 AND user_id = $2`,
	`DELETE FROM user_lookup WHERE company_id = $1 AND user_id = $2`,
}

// RemoveUser implements inventory.Users.
func (s *Store) RemoveUser(ctx context.Context, caller *domain.Caller, email string) (removed *domain.User, err error) {
	if err := inventory.WholeCompany(caller.Scope, "users"); err != nil {
		return nil, err
	}
	err = s.write(ctx, caller.Scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		by, err := access.Current(ctx, tx, caller)
		if err != nil {
			return nil, err
		}
		if removed, err = access.CompanyUser(ctx, tx, caller.Scope, email); err != nil {
			return nil, err
		}
		if removed.UserID == caller.UserID {
			return nil, domain.Invalid("userEmail", "an account is removed by another user")
		}
		if err := by.Need(removed.Permissions...); err != nil {
			return nil, err
		}
		for _, statement := range removals {
			if _, err := pg.Affected(ctx, tx, statement, caller.Scope.Company, removed.UserID); err != nil {
				return nil, err
			}
		}
		return &domain.AuditEntry{
			Action: domain.AuditUserRemove, SubjectType: "User", SubjectID: removed.Email, Changes: inventory.UserChanges(removed, &domain.User{}),
		}, checkAdministered(ctx, tx, caller.Scope, removed)
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}
