package access

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/ascii"
)

// checkUsers gives a verdict on each line, before anything is written: users
// are numbered over all companies, and a refused line takes no number. In
// the arrays, groups and permissions of a line are joined by commas.
const checkUsers = `
SELECT l.email, CASE
  WHEN EXISTS (
    SELECT FROM unnest(string_to_array(l.groups, ',')::bigint[]) AS wanted(group_id)
    WHERE NOT EXISTS (SELECT FROM groups g WHERE g.company_id = $1 AND g.group_id = wanted.group_id)) THEN 'group'
  WHEN u.user_id IS NULL THEN 'created'
  WHEN u.permissions IS DISTINCT FROM string_to_array(l.permissions, ',')
    OR NOT l.keep_disabled AND u.disabled <> l.disabled
    OR ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = u.user_id ORDER BY ug.group_id)
      IS DISTINCT FROM string_to_array(l.groups, ',')::bigint[] THEN 'updated'
  ELSE 'unchanged' END
FROM unnest($2::text[], $3::text[], $4::text[], $5::boolean[], $6::boolean[]) AS l(email, permissions, groups, disabled, keep_disabled)
LEFT JOIN users u ON u.company_id = $1 AND u.email = l.email`

// numberUsers compares with no row of the table: as an INSERT that joins it to unnest,
// Citus adds none.
const numberUsers = `
INSERT INTO user_lookup (email, company_id)
SELECT l.email, $2 FROM unnest($1::text[]) AS l(email)
ORDER BY l.email
ON CONFLICT DO NOTHING`

const userNumbers = `SELECT email, user_id FROM user_lookup WHERE company_id = $1 AND email = ANY($2)`

// writeUsers takes the numbers: with the table that every node has, Citus would run
// it on all of them.
const writeUsers = `
INSERT INTO users (company_id, user_id, email, permissions, disabled)
SELECT own.company_id, l.user_id, l.email, string_to_array(l.permissions, ','),
  CASE WHEN l.keep_disabled THEN coalesce(old.disabled, l.disabled) ELSE l.disabled END
FROM companies own
CROSS JOIN unnest($2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::bigint[]) AS l(email, permissions, disabled, keep_disabled, user_id)
LEFT JOIN users old ON old.company_id = own.company_id AND old.email = l.email
WHERE own.company_id = $1
ORDER BY l.user_id
ON CONFLICT (company_id, user_id) DO UPDATE SET permissions = excluded.permissions, disabled = excluded.disabled`

const detachUsers = `
DELETE FROM user_groups ug
USING users u, unnest($2::text[], $3::text[]) AS l(email, groups)
WHERE ug.company_id = $1 AND u.company_id = $1 AND u.email = l.email AND ug.user_id = u.user_id
  AND ug.group_id <> ALL (string_to_array(l.groups, ',')::bigint[])`

const attachUsers = `
INSERT INTO user_groups (company_id, user_id, group_id)
SELECT u.company_id, u.user_id, wanted.group_id
FROM users u
JOIN unnest($2::text[], $3::text[]) AS l(email, groups) ON l.email = u.email
CROSS JOIN LATERAL unnest(string_to_array(l.groups, ',')::bigint[]) AS wanted(group_id)
WHERE u.company_id = $1
ON CONFLICT DO NOTHING`

// StoreUsers writes accounts in a transaction under the lock of the company, but for
// the audit log. It returns the verdicts by address in lower case: those that are
// no outcome are for refuseUser.
func StoreUsers(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, items []*domain.UserImport) (map[string]string, error) {
	lines, verdicts := pg.Pluck(items, newUserLine), map[string]string{}
	emails, permissions, groups, disabled, keep := userArrays(lines)
	if err := imported.Judge(ctx, tx, verdicts, checkUsers, scope.Company, emails, permissions, groups, disabled, keep); err != nil {
		return nil, err
	}
	sound := slices.DeleteFunc(lines, func(l userLine) bool {
		return verdicts[l.email] != "created" && verdicts[l.email] != "updated"
	})
	return verdicts, writeUserLines(ctx, tx, scope, sound, verdicts)
}

// writeUserLines writes lines that were found sound.
func writeUserLines(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, lines []userLine, verdicts map[string]string) error {
	if len(lines) == 0 {
		return nil
	}
	emails := pq.StringArray(pg.Pluck(lines, func(l userLine) string { return l.email }))
	// Every node has a copy of the numbers, so none is written where no user is new.
	created := slices.DeleteFunc(slices.Clone(emails), func(email string) bool { return verdicts[email] != "created" })
	if len(created) > 0 {
		if _, err := tx.ExecContext(ctx, numberUsers, created, scope.Company); err != nil {
			return err
		}
	}
	found, err := pg.SelectAll[domain.User](ctx, tx, userNumbers, scope.Company, emails)
	if err != nil {
		return err
	}
	numbers := pg.Keyed(found, func(u *domain.User) string { return u.Email })
	ids := make(pq.Int64Array, len(lines))
	for i, l := range lines {
		ids[i] = numbers[l.email].UserID
	}
	emails, permissions, groups, disabled, keep := userArrays(lines)
	if _, err := tx.ExecContext(ctx, writeUsers, scope.Company, emails, permissions, disabled, keep, ids); err != nil {
		return err
	}
	for _, statement := range []string{detachUsers, attachUsers} {
		if _, err := tx.ExecContext(ctx, statement, scope.Company, emails, groups); err != nil {
			return err
		}
	}
	changed := slices.DeleteFunc(slices.Clone(emails), func(email string) bool { return verdicts[email] != "updated" })
	if len(changed) == 0 {
		return nil
	}
	// Who invited a user had the permissions that the user had then. A mail is not sent
	// without its invitation.
	_, err = EndInvitations(ctx, tx, scope.Company, pg.Pluck(changed, func(email string) int64 { return numbers[email].UserID }))
	return err
}

const (
	dropInvitations  = `DELETE FROM user_invitations WHERE company_id = $1 AND user_id = ANY($2) RETURNING mail_id`
	dropInvitedLinks = `DELETE FROM login_links WHERE company_id = $1 AND user_id = ANY($2) AND invited`
)

// EndInvitations ends the invitations of users with their links, and returns the mails that
// they are in; NULL for one without. They go first: who sends the mail locks one to make a link.
func EndInvitations(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, users pq.Int64Array) ([]sql.NullString, error) {
	mails, err := pg.SelectValues[sql.NullString](ctx, tx, dropInvitations, company, users)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, dropInvitedLinks, company, users)
	return mails, err
}

// StoreUser writes a checked account in a transaction under the lock of the company,
// by the rules of an import, but for the audit log, and returns what it did.
func StoreUser(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, u *domain.User) (domain.Outcome, error) {
	item := &domain.UserImport{User: *u}
	verdicts, err := StoreUsers(ctx, tx, scope, []*domain.UserImport{item})
	if err != nil {
		return 0, err
	}
	verdict := verdicts[ascii.Lower(u.Email)]
	if imported.Outcomes[verdict] == 0 {
		return 0, RefuseUser(item, verdict)
	}
	return imported.Outcomes[verdict], nil
}

// userLine is a user as the statements take it: the address in lower case, sets
// in order and joined by commas.
type userLine struct {
	email, permissions, groups string
	disabled, keepDisabled     bool
}

func newUserLine(u *domain.UserImport) userLine {
	permissions := slices.Compact(slices.Sorted(slices.Values(pg.Pluck(u.Permissions, func(p domain.Permission) string { return string(p) }))))
	groups := pg.Pluck(slices.Compact(slices.Sorted(slices.Values(u.Groups))), pg.FormatInt)
	return userLine{
		email: ascii.Lower(u.Email), permissions: strings.Join(permissions, ","), groups: strings.Join(groups, ","),
		disabled: u.Disabled, keepDisabled: u.KeepDisabled,
	}
}

func userArrays(lines []userLine) (emails, permissions, groups pq.StringArray, disabled, keepDisabled pq.BoolArray) {
	return pq.StringArray(pg.Pluck(lines, func(l userLine) string { return l.email })),
		pq.StringArray(pg.Pluck(lines, func(l userLine) string { return l.permissions })),
		pq.StringArray(pg.Pluck(lines, func(l userLine) string { return l.groups })),
		pq.BoolArray(pg.Pluck(lines, func(l userLine) bool { return l.disabled })),
		pq.BoolArray(pg.Pluck(lines, func(l userLine) bool { return l.keepDisabled }))
}

// RefuseUser words the verdict on a line whose user was not stored.
func RefuseUser(u *domain.UserImport, verdict string) *domain.Error {
	if verdict == "group" {
		return domain.Invalid(domain.UserGroupsField, "one of the groups %v is not on this account", u.Groups)
	}
	return imported.Unexpected(u, verdict)
}
