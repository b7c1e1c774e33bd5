package fieldusage

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// usesSince adds up the days first: a set has many coordinates.
const usesSince = `
SELECT c.coordinate, u.client, u.version, u.operation, sum(u.uses)::bigint AS uses, min(u.first_day) AS first_day, max(u.last_day) AS last_day
FROM (
  SELECT f.client, f.version, f.operation, f.set_id, sum(f.uses) AS uses,
    min(f.day)::timestamp AT TIME ZONE 'UTC' AS first_day, max(f.day)::timestamp AT TIME ZONE 'UTC' AS last_day
  FROM field_uses f
  WHERE f.company_id = $1 AND f.day >= $2::date AND ($3::text = '' OR f.client = $3)
  GROUP BY f.client, f.version, f.operation, f.set_id) u
JOIN field_sets s ON s.company_id = $1 AND s.set_id = u.set_id
CROSS JOIN unnest(s.coordinates) AS c(coordinate)
GROUP BY c.coordinate, u.client, u.version, u.operation
ORDER BY c.coordinate, u.client, u.version, u.operation`

// Each reads the uses of a company since a day (UTC), of one client or, for "", of all, by
// their coordinates.
func (s *Store) Each(ctx context.Context, company domain.CompanyID, since time.Time, client string, do func(domain.FieldUse) error) error {
	return pg.EachRow(ctx, s.pool, usesSince, []any{company, since.UTC().Format(time.DateOnly), client}, func(of domain.FieldUse) error {
		of.FirstDay, of.LastDay = of.FirstDay.UTC(), of.LastDay.UTC()
		return do(of)
	})
}

const (
	// daily are the uses of a day by all operations and versions of a client.
	daily = `
(SELECT f.day, c.coordinate, f.client, sum(f.uses)::bigint AS uses
 FROM field_uses f
 JOIN field_sets s ON s.company_id = $1 AND s.set_id = f.set_id
 CROSS JOIN unnest(s.coordinates) AS c(coordinate)
 WHERE f.company_id = $1
 GROUP BY f.day, c.coordinate, f.client) u`
	fromDaily   = ` FROM ` + daily + ` WHERE true`
	dayOfUses   = `(u.day::timestamp AT TIME ZONE 'UTC')`
	dailyKey    = `((to_char(u.day, 'YYYY-MM-DD') || chr(31) || u.coordinate || chr(31) || u.client) COLLATE "C")`
	dailyFields = dayOfUses + ` AS day, u.coordinate, u.client, u.uses`
	findDaily   = `SELECT ` + dailyFields + fromDaily + ` AND ` + dailyKey + ` = ANY($2)`
	sumDaily    = `
SELECT u.coordinate, sum(u.uses)::bigint AS uses, count(DISTINCT u.client) AS clients, min` + dayOfUses + ` AS first_day, max` + dayOfUses + ` AS last_day`
)

// counts names what is listed.
const counts = "counts of field usage"

var listKey = query.Field{Name: "id", Type: query.Text}

// table is the list of domain.FieldUsageFields.
var table = keyset.Table{
	Key: listKey, Order: keyset.Newest("day"), Select: dailyFields, From: fromDaily, WholeOnly: counts,
	Columns: map[string]keyset.Column{
		listKey.Name: {SQL: dailyKey}, "day": {SQL: dayOfUses}, "coordinate": {SQL: "u.coordinate"}, "client": {SQL: "u.client"}, "uses": {SQL: "u.uses"},
	},
}

type listed struct {
	domain.FieldUsage
	keyset.Keyed
}

func inUTC(of *domain.FieldUsage) *domain.FieldUsage {
	of.Day = of.Day.UTC()
	return of
}

// List implements domain.FieldUsages.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.FieldUsage], error) {
	return keyset.Page(ctx, s.pool, table, scope, listing, func(r *listed) *domain.FieldUsage { return inUTC(&r.FieldUsage) })
}

// Count implements domain.FieldUsages.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return table.Count(ctx, s.pool, scope, listing)
}

// FindMany implements domain.FieldUsages.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.FieldUsage, error) {
	if err := pg.WholeCompanyOnly(scope, counts); err != nil {
		return nil, err
	}
	found, err := pg.SelectAll[domain.FieldUsage](ctx, s.pool, findDaily, scope.Company, pq.StringArray(ids))
	return pg.Keyed(pg.Pluck(found, inUTC), (*domain.FieldUsage).ID), err
}

// Totals implements domain.FieldUsages.
func (s *Store) Totals(ctx context.Context, scope domain.Scope, filter query.Expr, most int) ([]*domain.FieldUsageTotal, error) {
	if err := pg.WholeCompanyOnly(scope, counts); err != nil {
		return nil, err
	}
	l := keyset.New(func(field string) keyset.Column { return table.Columns[field] }, listKey, scope.Company)
	sql := sumDaily + fromDaily + ` AND ` + l.Filter(filter)
	totals, err := pg.SelectAll[domain.FieldUsageTotal](ctx, s.pool, sql+fmt.Sprintf(`
GROUP BY u.coordinate
ORDER BY sum(u.uses) DESC, u.coordinate
LIMIT %d`, most), l.Args...)
	for _, of := range totals {
		of.FirstDay, of.LastDay = of.FirstDay.UTC(), of.LastDay.UTC()
	}
	return totals, err
}
