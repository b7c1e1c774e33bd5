// Package group keeps the groups of subscribers in PostgreSQL.
package group

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store keeps the subscriber groups in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Groups = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// Visible is the condition that a scope ($1, $2) shows the group g.
const Visible = `g.company_id = $1 AND ($2::bigint[] IS NULL OR g.group_id = ANY($2))`

// Find implements domain.Groups.
func (g *Store) Find(ctx context.Context, scope domain.Scope, id int64) (*domain.Group, error) {
	found, err := g.FindMany(ctx, scope, []int64{id})
	if err != nil {
		return nil, err
	}
	if group := found[id]; group != nil {
		return group, nil
	}
	return nil, NotFound(id)
}

// NotFound is the error on a group that the scope does not show.
func NotFound(id int64) error {
	return domain.NotFound("groupId", "group", pg.FormatInt(id))
}

// SelectMany selects the visible groups whose id a condition follows, such as = ANY($3).
const SelectMany = `
SELECT g.group_id, g.name, g.hide_tariff_details
FROM groups g
WHERE ` + Visible + ` AND g.group_id `

// FindMany implements domain.Groups.
func (g *Store) FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*domain.Group, error) {
	is, id := pg.Is(ids)
	rows, err := pg.SelectAll[domain.Group](ctx, g.pool, SelectMany+is+"($3)", scope.Company, pg.GroupsOf(scope), id)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Group) int64 { return of.GroupID }), nil
}

// groupsTable is the list of domain.GroupFields.
var groupsTable = keyset.Table{
	Key: query.Field{Name: "groupId", Type: query.Integer}, Select: `g.group_id, g.name, g.hide_tariff_details`, From: ` FROM groups g WHERE ` + Visible,
	Columns: map[string]keyset.Column{"groupId": {SQL: "g.group_id"}, "name": {SQL: "g.name"}, "isTariffHidden": {SQL: "g.hide_tariff_details"}},
}

type listedGroup struct {
	domain.Group
	keyset.Keyed
}

// List implements domain.Groups.
func (g *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Group], error) {
	return keyset.Page(ctx, g.pool, groupsTable, scope, listing, func(r *listedGroup) *domain.Group { return &r.Group }, pg.GroupsOf(scope))
}

// Count implements domain.Groups.
func (g *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return groupsTable.Count(ctx, g.pool, scope, listing, pg.GroupsOf(scope))
}

const fromGroupsOfUsers = `
FROM user_groups ug
JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
WHERE ug.company_id = $1 AND ` + Visible

func groupsOfUsers(scope domain.Scope, users []int64) *keyset.List {
	return keyset.New(func(field string) keyset.Column { return groupsTable.Columns[field] }, groupsTable.Key,
		scope.Company, pg.GroupsOf(scope), pq.Int64Array(users))
}

// OfUsers implements domain.Groups.
func (g *Store) OfUsers(ctx context.Context, scope domain.Scope, users []int64, listing domain.Listing) (map[int64]domain.Slice[*domain.Group], error) {
	type row struct {
		UserID int64
		listedGroup
	}
	const wanted = `(SELECT u.user_id FROM users u WHERE u.company_id = $1 AND u.user_id = ANY($3)) wanted`
	sql := "SELECT ug.user_id, " + groupsTable.Select + ", {cursor} AS cursor_keys" + fromGroupsOfUsers + " AND ug.user_id = wanted.user_id"
	return keyset.RowsEach(ctx, g.pool, groupsOfUsers(scope, users), wanted, sql, listing, users,
		func(r *row) int64 { return r.UserID }, func(r *row) *domain.Group { return &r.Group })
}

// CountOfUsers implements domain.Groups.
func (g *Store) CountOfUsers(ctx context.Context, scope domain.Scope, users []int64, listing domain.Listing) (map[int64]int, error) {
	l := groupsOfUsers(scope, users)
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, g.pool, "SELECT ug.user_id AS parent, count(*) AS number"+fromGroupsOfUsers+" AND ug.user_id = ANY($3) AND "+where+"\nGROUP BY ug.user_id", l.Args)
}

const countsOfGroups = `
SELECT g.group_id,
       (SELECT count(*) FROM user_groups u WHERE u.company_id = $1 AND u.group_id = g.group_id) AS users,
       (SELECT count(*) FROM subscribers s WHERE s.company_id = $1 AND s.group_id = g.group_id) AS subscribers
FROM groups g
WHERE ` + Visible + ` AND g.group_id = ANY($3)`

// CountsOf implements domain.Groups.
func (g *Store) CountsOf(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]domain.GroupCounts, error) {
	type row struct {
		GroupID int64
		domain.GroupCounts
	}
	rows, err := pg.SelectAll[row](ctx, g.pool, countsOfGroups, scope.Company, pg.GroupsOf(scope), pq.Int64Array(ids))
	if err != nil {
		return nil, err
	}
	counts := make(map[int64]domain.GroupCounts, len(rows))
	for _, r := range rows {
		counts[r.GroupID] = r.GroupCounts
	}
	return counts, nil
}

const (
	lockGroup = `
SELECT g.group_id, g.name, g.hide_tariff_details
FROM groups g
WHERE ` + Visible + ` AND g.group_id = $3
FOR NO KEY UPDATE`
	renameGroup = `UPDATE groups SET name = $3 WHERE company_id = $1 AND group_id = $2`
)

// Rename implements domain.Groups.
func (g *Store) Rename(ctx context.Context, scope domain.Scope, id int64, name string) (renamed *domain.Group, err error) {
	err = pg.InTx(ctx, g.pool, func(tx *sqlx.Tx) error {
		renamed, err = pg.GetOne[domain.Group](ctx, tx, NotFound(id), lockGroup, scope.Company, pg.GroupsOf(scope), id)
		if err == nil {
			err = scope.CheckVersion(renamed.Version())
		}
		if err != nil || renamed.Name == name {
			return err
		}
		changes := domain.Changed("name", renamed.Name, name)
		renamed.Name = name
		if _, err := pg.Affected(ctx, tx, renameGroup, scope.Company, id, name); err != nil {
			return err
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditGroupEdit, SubjectType: "Group", SubjectID: pg.FormatInt(id), Changes: changes,
		})
	})
	return renamed, err
}
