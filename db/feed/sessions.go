package feed

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Sessions reads the sessions that network elements reported from PostgreSQL.
type Sessions struct{ pool *sqlx.DB }

var _ domain.Sessions = (*Sessions)(nil)

// NewSessions returns the store on the pool.
func NewSessions(pool *sqlx.DB) *Sessions { return &Sessions{pool} }

const (
	// fromSessions are the sessions n with the subscriber s, where that is known.
	fromSessions = `
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key`
	// visibleSessions is the condition that a scope ($1, $2) shows the session.
	visibleSessions = `n.company_id = $1 AND ($2::bigint[] IS NULL OR ` + visibleToGroups + `)`
	visibleToGroups = `s.group_id = ANY($2)`
	ofCompany       = ` WHERE n.company_id = $1 AND {visible}`
	sessionKey      = "id"
)

// visible fills the condition that the scope shows the session into a statement.
func visible(sql string, scope domain.Scope) string {
	return pg.Visible(sql, scope, "n", visibleToGroups)
}

// sessionColumns are where the fields of domain.SessionFields and sessionKey live.
var sessionColumns = map[string]keyset.Column{
	sessionKey:       {SQL: `((n.identity::text || '-' || n.generation::text) COLLATE "C")`},
	"isOpen":         {SQL: "(n.ended_at IS NULL)"},
	"isTransferring": {SQL: "n.is_transferring"},
	"isIncomplete":   {SQL: "n.decreased"},
	"physicalId":     {SQL: "s.physical_id", Nullable: true},
	"source":         {SQL: "n.source"},
	"nas":            {SQL: "nullif(n.nas, '')", Nullable: true},
	"sessionId":      {SQL: "n.session_id"},
	"beganAt":        {SQL: "n.began_at"},
	"reportedAt":     {SQL: "n.reported_at"},
	"endedAt":        {SQL: "n.ended_at", Nullable: true},
	"cause":          {SQL: "nullif(n.cause, '')", Nullable: true},
	"apn":            {SQL: "nullif(n.apn, '')", Nullable: true},
	"ratType":        {SQL: "nullif(n.rat_type, '')", Nullable: true},
	"imei":           {SQL: "nullif(n.imei, '')", Nullable: true},
	"visitedNetwork": {SQL: "nullif(n.visited_network, '')", Nullable: true},
	"cell":           {SQL: "nullif(n.cell, '')", Nullable: true},
	"total":          {SQL: "(n.mobile_originated + n.mobile_terminated)"},
}

// newSessionList takes the parameters that the statement has beside the scope.
func newSessionList(scope domain.Scope, args ...any) *keyset.List {
	return keyset.New(func(field string) keyset.Column { return sessionColumns[field] },
		query.Field{Name: sessionKey, Type: query.Text}, append([]any{scope.Company, pg.GroupsOf(scope)}, args...)...)
}

type listedSession struct {
	usage.SessionRow
	keyset.Keyed
}

func (r *listedSession) session() *domain.Session { return r.Read() }

const (
	listSessions     = `SELECT ` + usage.SessionColumns + `, {cursor} AS cursor_keys` + fromSessions + ofCompany
	sessionsOfParent = listSessions + ` AND n.subscriber_key = parent.key`
)

// List implements domain.Sessions.
func (s *Sessions) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Session], error) {
	return keyset.Rows(ctx, s.pool, newSessionList(scope), visible(listSessions, scope), listing.InOrder(domain.SessionOrder()), (*listedSession).session)
}

// OfSubscribers implements domain.Sessions.
func (s *Sessions) OfSubscribers(ctx context.Context, scope domain.Scope, subscribers []int64, listing domain.Listing) (map[int64]domain.Slice[*domain.Session], error) {
	l := newSessionList(scope, pq.Int64Array(subscribers))
	return keyset.RowsEach(ctx, s.pool, l, "unnest($3::bigint[]) AS parent(key)", visible(sessionsOfParent, scope), listing.InOrder(domain.SessionOrder()), subscribers,
		func(row *listedSession) int64 { return *row.SubscriberKey }, (*listedSession).session)
}

// CountOfSubscribers implements domain.Sessions.
func (s *Sessions) CountOfSubscribers(ctx context.Context, scope domain.Scope, subscribers []int64, listing domain.Listing) (map[int64]int, error) {
	l := newSessionList(scope, pq.Int64Array(subscribers))
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, s.pool, visible(`SELECT n.subscriber_key AS parent, count(*) AS number`+fromSessions+ofCompany, scope)+
		` AND n.subscriber_key = ANY($3) AND `+where+` GROUP BY n.subscriber_key`, l.Args)
}

// Count implements domain.Sessions.
func (s *Sessions) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	l := newSessionList(scope)
	sql := visible(`SELECT count(*)`+fromSessions+ofCompany, scope) + ` AND ` + l.Filter(listing.Filter)
	return pg.Count(ctx, s.pool, sql, l.Args...)
}

const findSessions = `SELECT ` + usage.SessionColumns + fromSessions + `
JOIN unnest($3::uuid[], $4::int[]) AS w(identity, generation) ON w.identity = n.identity AND w.generation = n.generation
WHERE ` + visibleSessions

// FindMany implements domain.Sessions.
func (s *Sessions) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.Session, error) {
	var identities []uuid.UUID
	var generations pq.Int64Array
	for _, id := range ids {
		if identity, generation, ok := domain.ParseSessionID(id); ok {
			identities, generations = append(identities, uuid.UUID(identity)), append(generations, int64(generation))
		}
	}
	rows, err := pg.SelectAll[usage.SessionRow](ctx, s.pool, findSessions, scope.Company, pg.GroupsOf(scope), pq.Array(identities), generations)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*usage.SessionRow).Read), (*domain.Session).ID), nil
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
