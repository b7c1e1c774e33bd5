package access

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
	"simgraph/domain/query"
)

// userColumns are those of users of the company $1: Citus asks the node that $1 names,
// and every node where it is named by another row.
const userColumns = `u.user_id, u.email, u.permissions, u.disabled, u.signed_in_at,
  (SELECT i.invited_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invited_at,
  (SELECT i.expires_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invitation_ends_at,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = u.user_id ORDER BY 1) AS groups`

type userRow struct {
	CompanyID   domain.CompanyID
	UserID      int64
	Email       string
	Permissions pq.StringArray
	Disabled    bool
	Groups      pq.Int64Array

	SignedInAt, InvitedAt, InvitationEndsAt *time.Time
}

func (r *userRow) user() *domain.User {
	user := &domain.User{
		UserID: r.UserID, Email: r.Email, Permissions: permissionsOf(r.Permissions), Groups: r.Groups, Disabled: r.Disabled, SignedInAt: r.SignedInAt,
	}
	if r.InvitedAt != nil && r.InvitationEndsAt != nil {
		user.Invitation = &domain.UserInvitation{InvitedAt: *r.InvitedAt, ExpiresAt: *r.InvitationEndsAt}
	}
	return user
}

func permissionsOf(texts []string) []domain.Permission {
	permissions := make([]domain.Permission, len(texts))
	for i, text := range texts {
		permissions[i] = domain.Permission(text)
	}
	return permissions
}

// usersTable is the list of domain.UserFields.
var usersTable = keyset.Table{
	Key: query.Field{Name: "email"}, Select: userColumns, From: ` FROM users u WHERE u.company_id = $1`,
	Columns: map[string]keyset.Column{"email": {SQL: "u.email"}, "isDisabled": {SQL: "u.disabled"}},
}

type listedUser struct {
	userRow
	keyset.Keyed
}

// Users implements domain.Access.
func (a *Store) Users(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.User], error) {
	return keyset.Page(ctx, a.pool, usersTable, scope, listing, func(r *listedUser) *domain.User { return r.user() })
}

// CountUsers implements domain.Access.
func (a *Store) CountUsers(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return usersTable.Count(ctx, a.pool, scope, listing)
}

const findUsers = `SELECT ` + userColumns + ` FROM users u WHERE u.company_id = $1 AND u.email = ANY($2)`

// FindUsers implements domain.Access.
func (a *Store) FindUsers(ctx context.Context, scope domain.Scope, emails []string) (map[string]*domain.User, error) {
	rows, err := pg.SelectAll[userRow](ctx, a.pool, findUsers, scope.Company, pq.StringArray(emails))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*userRow).user), func(of *domain.User) string { return of.Email }), nil
}

const companiesOfEmail = `
SELECT company_id
FROM user_lookup
WHERE email = $1
ORDER BY company_id
LIMIT 2`

// FindUser implements domain.Access. A join of both tables would ask every node of
// Citus.
func (a *Store) FindUser(ctx context.Context, email string) (domain.CompanyID, *domain.User, error) {
	known, err := domain.ParseEmail("userEmail", email)
	if err != nil {
		return 0, nil, noUser(email)
	}
	found, err := pg.SelectValues[domain.CompanyID](ctx, a.pool, companiesOfEmail, known.String())
	switch {
	case err != nil:
		return 0, nil, err
	case len(found) == 0:
		return 0, nil, noUser(email)
	case len(found) > 1:
		return 0, nil, domain.Invalid("company", "several companies have a user %q: name one", known)
	}
	user, err := a.companyUser(ctx, domain.Whole(found[0]), email)
	return found[0], user, err
}

func noUser(email string) error { return domain.NotFound("userEmail", "user", email) }

const findCompanyUser = `SELECT ` + userColumns + ` FROM users u WHERE u.company_id = $1 AND u.email = $2`

func (a *Store) companyUser(ctx context.Context, scope domain.Scope, email string) (*domain.User, error) {
	return CompanyUser(ctx, a.pool, scope, email)
}

// CompanyUser finds a user of the company by e-mail, case-insensitively.
func CompanyUser(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, email string) (*domain.User, error) {
	known, err := domain.ParseEmail("userEmail", email)
	if err != nil {
		return nil, noUser(email)
	}
	row, err := pg.GetOne[userRow](ctx, in, noUser(email), findCompanyUser, scope.Company, known.String())
	if err != nil {
		return nil, err
	}
	return row.user(), nil
}

// Current returns the caller with the rights of this moment: those that were
// authenticated may be seconds old, and the lock may have been waited for. The
// operator, who has no account, has all.
func Current(ctx context.Context, tx *sqlx.Tx, caller *domain.Caller) (*domain.Caller, error) {
	if caller.UserID == 0 {
		return caller, nil
	}
	account, err := CompanyUser(ctx, tx, caller.Scope, caller.Email)
	if err != nil {
		return nil, err
	}
	return inventory.Current(caller, account)
}
