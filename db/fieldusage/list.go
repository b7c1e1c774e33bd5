package fieldusage

import (
	"context"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
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
