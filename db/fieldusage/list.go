package fieldusage

import (
	"context"
	"strings"
	"time"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

func joined(coordinates []string) string { return strings.Join(coordinates, " ") }

// usedSince adds up the days first: a set has many coordinates.
const usedSince = `
(SELECT c.coordinate, u.client, u.version, u.operation, sum(u.uses)::bigint AS uses, min(u.first_day) AS first_day, max(u.last_day) AS last_day
 FROM (
   SELECT f.company_id, f.client, f.version, f.operation, f.set_id, sum(f.uses) AS uses,
     min(f.day)::timestamp AT TIME ZONE 'UTC' AS first_day, max(f.day)::timestamp AT TIME ZONE 'UTC' AS last_day
   FROM field_uses f
   WHERE f.company_id = $1 AND f.day >= $2::date
   GROUP BY f.company_id, f.client, f.version, f.operation, f.set_id) u
 JOIN field_sets s ON s.company_id = $1 AND s.set_id = u.set_id
 CROSS JOIN unnest(s.coordinates) AS c(coordinate)
 GROUP BY c.coordinate, u.client, u.version, u.operation) f`

// usesTable is the list of domain.FieldUseFields.
var usesTable = keyset.Table{
	Key: query.Field{Name: "key", Type: query.Text}, Select: "f.*", From: " FROM " + usedSince + " WHERE true", WholeOnly: "field usage",
	Columns: map[string]keyset.Column{
		"key":        {SQL: `((f.coordinate || chr(31) || f.client || chr(31) || f.version || chr(31) || f.operation) COLLATE "C")`},
		"coordinate": {SQL: "f.coordinate"}, "client": {SQL: "f.client"}, "version": {SQL: "f.version"}, "operation": {SQL: "f.operation"},
		"uses": {SQL: "f.uses"}, "firstDay": {SQL: "f.first_day"}, "lastDay": {SQL: "f.last_day"},
	},
}

type listedUse struct {
	domain.FieldUse
	keyset.Keyed
}

func (r *listedUse) use() *domain.FieldUse { return inUTC(&r.FieldUse) }

func inUTC(of *domain.FieldUse) *domain.FieldUse {
	of.FirstDay, of.LastDay = of.FirstDay.UTC(), of.LastDay.UTC()
	return of
}

func sinceText(since time.Time) string { return since.UTC().Format(time.DateOnly) }

// List implements domain.FieldUsage.
func (s *Store) List(ctx context.Context, scope domain.Scope, since time.Time, listing domain.Listing) (domain.Slice[*domain.FieldUse], error) {
	return keyset.Page(ctx, s.pool, usesTable, scope, listing, (*listedUse).use, sinceText(since))
}

// Count implements domain.FieldUsage.
func (s *Store) Count(ctx context.Context, scope domain.Scope, since time.Time, listing domain.Listing) (int, error) {
	return usesTable.Count(ctx, s.pool, scope, listing, sinceText(since))
}

const allUses = `SELECT f.* FROM ` + usedSince + ` WHERE $3::text = '' OR f.client = $3 ORDER BY f.coordinate, f.client, f.version, f.operation`

// Each reads the uses of a company since a day, of one client or, for "", of all, by their
// coordinates.
func (s *Store) Each(ctx context.Context, company domain.CompanyID, since time.Time, client string, do func(domain.FieldUse) error) error {
	return pg.EachRow(ctx, s.pool, allUses, []any{company, sinceText(since), client}, func(of domain.FieldUse) error {
		return do(*inUTC(&of))
	})
}
