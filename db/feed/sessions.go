package feed

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Sessions reads the sessions that network elements reported from PostgreSQL.
type Sessions struct{ pool *sqlx.DB }

var _ domain.Sessions = (*Sessions)(nil)

// NewSessions returns the store on the pool.
func NewSessions(pool *sqlx.DB) *Sessions { return &Sessions{pool} }

const sessionsOfSubscribers = `
SELECT n.*
FROM unnest($3::bigint[]) AS k(key)
JOIN subscribers s ON s.company_id = $1 AND s.key = k.key AND ($2::bigint[] IS NULL OR s.group_id = ANY($2))
CROSS JOIN LATERAL (
  SELECT ` + usage.SessionColumns + `
  FROM sessions n
  WHERE n.company_id = $1 AND n.subscriber_key = k.key
  ORDER BY n.began_at DESC, n.identity, n.generation
  LIMIT $4 OFFSET $5
) n`

// OfSubscribers implements domain.Sessions.
func (s *Sessions) OfSubscribers(ctx context.Context, scope domain.Scope, subscribers []int64, page domain.Page) (map[int64][]*domain.Session, error) {
	rows, err := pg.SelectAll[usage.SessionRow](ctx, s.pool, sessionsOfSubscribers, scope.Company, pg.GroupsOf(scope), pq.Int64Array(subscribers), page.Limit, page.Offset)
	if err != nil {
		return nil, err
	}
	sessions := make(map[int64][]*domain.Session, len(subscribers))
	for _, row := range rows {
		sessions[*row.SubscriberKey] = append(sessions[*row.SubscriberKey], row.Read())
	}
	return sessions, nil
}

// lastReports looks at the sessions that began last only: each is reported to its end.
const lastReports = `
SELECT k.key, max(n.reported_at) AS at
FROM unnest($3::bigint[]) AS k(key)
JOIN subscribers s ON s.company_id = $1 AND s.key = k.key AND ($2::bigint[] IS NULL OR s.group_id = ANY($2))
CROSS JOIN LATERAL (
  SELECT n.reported_at
  FROM sessions n
  WHERE n.company_id = $1 AND n.subscriber_key = k.key
  ORDER BY n.began_at DESC
  LIMIT 20
) n
GROUP BY k.key`

// LastSeen implements domain.Sessions.
func (s *Sessions) LastSeen(ctx context.Context, scope domain.Scope, subscribers []int64) (map[int64]time.Time, error) {
	type row struct {
		Key int64
		At  time.Time
	}
	rows, err := pg.SelectValues[row](ctx, s.pool, lastReports, scope.Company, pg.GroupsOf(scope), pq.Int64Array(subscribers))
	seen := make(map[int64]time.Time, len(rows))
	for _, r := range rows {
		seen[r.Key] = r.At
	}
	return seen, err
}
