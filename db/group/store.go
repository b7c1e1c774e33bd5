// Package group keeps the groups of subscribers in PostgreSQL.
package group

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store keeps the subscriber groups in PostgreSQL.
type Store struct {
	kept.Store[int64, row, domain.Group, *row]
}

var _ domain.Groups = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{kept.New(pool, nil, Kind)} }

// Kind is how groups are kept.
var Kind = kept.Kind[int64, row, domain.Group]{
	Type: "Group", Name: "group", Table: groupsTable, Shown: func(scope domain.Scope) []any { return []any{pg.GroupsOf(scope)} }, Lock: ` FOR NO KEY UPDATE`,
	Read: func(r *row) (*domain.Group, error) { return &r.Group, nil }, ID: func(of *domain.Group) *int64 { return &of.GroupID },
}

type row struct {
	domain.Group
	keyset.Keyed
}

// Visible is the condition that a scope ($1, $2) shows the group g.
const Visible = `g.company_id = $1 AND ($2::bigint[] IS NULL OR g.group_id = ANY($2))`

// groupsTable is the list of domain.GroupFields.
var groupsTable = keyset.Table{
	Key: query.Field{Name: "groupId", Type: query.Integer}, Select: `g.group_id, g.name, g.hide_tariff_details`, From: ` FROM groups g WHERE ` + Visible,
	Columns: map[string]keyset.Column{"groupId": {SQL: "g.group_id"}, "name": {SQL: "g.name"}, "isTariffHidden": {SQL: "g.hide_tariff_details"}},
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
	type rowOfUser struct {
		UserID int64
		row
	}
	const wanted = `(SELECT u.user_id FROM users u WHERE u.company_id = $1 AND u.user_id = ANY($3)) wanted`
	sql := "SELECT ug.user_id, " + groupsTable.Select + ", {cursor} AS cursor_keys" + fromGroupsOfUsers + " AND ug.user_id = wanted.user_id"
	return keyset.RowsEach(ctx, g.Pool, groupsOfUsers(scope, users), wanted, sql, listing, users,
		func(r *rowOfUser) int64 { return r.UserID }, func(r *rowOfUser) *domain.Group { return &r.Group })
}

// CountOfUsers implements domain.Groups.
func (g *Store) CountOfUsers(ctx context.Context, scope domain.Scope, users []int64, listing domain.Listing) (map[int64]int, error) {
	l := groupsOfUsers(scope, users)
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, g.Pool, "SELECT ug.user_id AS parent, count(*) AS number"+fromGroupsOfUsers+" AND ug.user_id = ANY($3) AND "+where+"\nGROUP BY ug.user_id", l.Args)
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
	rows, err := pg.SelectAll[row](ctx, g.Pool, countsOfGroups, scope.Company, pg.GroupsOf(scope), pq.Int64Array(ids))
	if err != nil {
		return nil, err
	}
	counts := make(map[int64]domain.GroupCounts, len(rows))
	for _, r := range rows {
		counts[r.GroupID] = r.GroupCounts
	}
	return counts, nil
}

const renameGroup = `UPDATE groups SET name = $3 WHERE company_id = $1 AND group_id = $2`

// Rename implements domain.Groups.
func (g *Store) Rename(ctx context.Context, scope domain.Scope, id int64, name string) (*domain.Group, error) {
	return g.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *domain.Group) (*domain.AuditEntry, error) {
		if err := scope.CheckVersion(of.Version()); err != nil || of.Name == name {
			return nil, err
		}
		entry := g.Note(domain.AuditGroupEdit, id, domain.Changed("name", of.Name, name)...)
		of.Name = name
		_, err := pg.Affected(ctx, tx, renameGroup, scope.Company, id, name)
		return entry, err
	})
}
