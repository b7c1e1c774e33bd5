package feed

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// State reads how the sources of companies fare from PostgreSQL.
type State struct{ pool *sqlx.DB }

var _ domain.FeedState = (*State)(nil)

// NewState returns the store on the pool.
func NewState(pool *sqlx.DB) *State { return &State{pool} }

var listKey = query.Field{Name: "id", Type: query.Text}

const (
	elements = `
(SELECT source, '' COLLATE "C" AS nas FROM usage_sources WHERE company_id = $1
 UNION SELECT source, nas FROM feed_packets WHERE company_id = $1) e`
	listElements = `
SELECT e.source, e.nas, CASE WHEN e.nas = '' THEN u.complete_until ELSE w.complete_until END AS complete_until
FROM ` + elements + `
LEFT JOIN usage_sources u ON u.company_id = $1 AND u.source = e.source
LEFT JOIN feed_watermarks w ON w.company_id = $1 AND w.source = e.source AND w.nas = e.nas
WHERE true`
	countElements = `SELECT count(*) FROM ` + elements
	elementKey    = `((e.source || chr(31) || e.nas) COLLATE "C")`
	findElements  = listElements + ` AND ` + elementKey + ` = ANY($2)`
	packetsOf     = `
SELECT p.source, p.nas, p.result, p.packets, p.last_at
FROM feed_packets p
JOIN unnest($2::text[], $3::text[]) AS k(source, nas) ON k.source = p.source AND k.nas = p.nas
WHERE p.company_id = $1
ORDER BY p.result`
)

// Elements implements domain.FeedState.
func (s *State) Elements(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.FeedElement], error) {
	slice, err := keyset.ByKey(ctx, s.pool, listElements, listKey, elementKey, page, (*domain.FeedElement).ID, scope.Company)
	if err != nil {
		return slice, err
	}
	return slice, s.readPackets(ctx, scope, slice.Items)
}

// FindElements implements domain.FeedState.
func (s *State) FindElements(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.FeedElement, error) {
	found, err := pg.SelectAll[domain.FeedElement](ctx, s.pool, findElements, scope.Company, pq.StringArray(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(found, (*domain.FeedElement).ID), s.readPackets(ctx, scope, found)
}

// readPackets adds the packets of elements.
func (s *State) readPackets(ctx context.Context, scope domain.Scope, of []*domain.FeedElement) error {
	found := pg.Keyed(of, (*domain.FeedElement).Key)
	type row struct {
		domain.FeedKey
		domain.FeedPackets
	}
	sources, elements := namesOf(pg.Pluck(of, (*domain.FeedElement).Key))
	rows, err := pg.SelectAll[row](ctx, s.pool, packetsOf, scope.Company, sources, elements)
	for _, r := range rows {
		found[r.FeedKey].Packets = append(found[r.FeedKey].Packets, r.FeedPackets)
	}
	return err
}

// namesOf returns the two halves of keys.
func namesOf(keys []domain.FeedKey) (sources, elements pq.StringArray) {
	return pg.Pluck(keys, func(k domain.FeedKey) string { return k.Source }), pg.Pluck(keys, func(k domain.FeedKey) string { return k.NAS })
}

// CountElements implements domain.FeedState.
func (s *State) CountElements(ctx context.Context, scope domain.Scope) (int, error) {
	return pg.Count(ctx, s.pool, countElements, scope.Company)
}

const (
	countSessions = `
SELECT n.source, n.nas, count(*)` + fromSessions + `
JOIN unnest($3::text[], $4::text[]) AS k(source, nas) ON k.source = n.source AND k.nas = n.nas
WHERE ` + visibleSessions + ` AND `
	byElement          = ` GROUP BY n.source, n.nas`
	openSessions       = countSessions + `n.ended_at IS NULL` + byElement
	incompleteSessions = countSessions + `n.decreased` + byElement
)

// OpenSessions implements domain.FeedState.
func (s *State) OpenSessions(ctx context.Context, scope domain.Scope, of []domain.FeedKey) (map[domain.FeedKey]int, error) {
	return s.countSessions(ctx, openSessions, scope, of)
}

// IncompleteSessions implements domain.FeedState.
func (s *State) IncompleteSessions(ctx context.Context, scope domain.Scope, of []domain.FeedKey) (map[domain.FeedKey]int, error) {
	return s.countSessions(ctx, incompleteSessions, scope, of)
}

func (s *State) countSessions(ctx context.Context, statement string, scope domain.Scope, of []domain.FeedKey) (map[domain.FeedKey]int, error) {
	type row struct {
		domain.FeedKey
		Count int
	}
	sources, elements := namesOf(of)
	rows, err := pg.SelectValues[row](ctx, s.pool, statement, scope.Company, pg.GroupsOf(scope), sources, elements)
	counts := make(map[domain.FeedKey]int, len(rows))
	for _, r := range rows {
		counts[r.FeedKey] = r.Count
	}
	return counts, err
}

const (
	rejectColumns = `SELECT r.source, r.nas, r.reason, r.requests, r.first_at, r.last_at, r.example`
	fromRejects   = `
FROM feed_rejects r
WHERE r.company_id = $1`
	rejectKey    = `((r.source || chr(31) || r.nas || chr(31) || r.reason) COLLATE "C")`
	findRejects  = rejectColumns + fromRejects + ` AND ` + rejectKey + ` = ANY($2)`
	countRejects = `SELECT count(*) FROM feed_rejects WHERE company_id = $1`
)

type listedReject struct {
	domain.FeedReject
	CursorKeys pg.NullableTexts
}

func (r *listedReject) Keys() pg.NullableTexts { return r.CursorKeys }

// Rejects implements domain.FeedState.
func (s *State) Rejects(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.FeedReject], error) {
	if scope.Restricted() {
		return domain.Slice[*domain.FeedReject]{}, pg.WholeCompanyOnly("rejected requests")
	}
	last := query.Field{Name: "lastAt", Type: query.Time}
	columns := map[string]keyset.Column{
		listKey.Name: {SQL: rejectKey}, last.Name: {SQL: "r.last_at"},
	}
	sql := rejectColumns + `, {cursor} AS cursor_keys` + fromRejects
	list := keyset.New(func(field string) keyset.Column { return columns[field] }, listKey, scope.Company)
	return keyset.Rows(ctx, s.pool, list, sql, domain.Listing{Page: page, Order: []query.Order{{Field: last, Desc: true}}},
		func(row *listedReject) *domain.FeedReject { return &row.FeedReject })
}

// FindRejects implements domain.FeedState.
func (s *State) FindRejects(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.FeedReject, error) {
	if scope.Restricted() {
		return nil, pg.WholeCompanyOnly("rejected requests")
	}
	found, err := pg.SelectAll[domain.FeedReject](ctx, s.pool, findRejects, scope.Company, pq.StringArray(ids))
	return pg.Keyed(found, (*domain.FeedReject).ID), err
}

// CountRejects implements domain.FeedState.
func (s *State) CountRejects(ctx context.Context, scope domain.Scope) (int, error) {
	if scope.Restricted() {
		return 0, pg.WholeCompanyOnly("rejected requests")
	}
	return pg.Count(ctx, s.pool, countRejects, scope.Company)
}

const (
	waiting = `
(SELECT q.physical_id, q.imsi, q.msisdn, q.source, count(*) AS records, sum(q.mobile_originated + q.mobile_terminated)::bigint AS bytes,
   min(q.started_at) AS first_at, max(q.ended_at) AS last_at
 FROM usage_quarantine q
 WHERE q.company_id = $1
 GROUP BY q.physical_id, q.imsi, q.msisdn, q.source) w`
	listWaiting  = `SELECT w.* FROM ` + waiting + ` WHERE true`
	waitingKey   = `((w.physical_id || chr(31) || w.imsi || chr(31) || w.msisdn || chr(31) || w.source) COLLATE "C")`
	findWaiting  = listWaiting + ` AND ` + waitingKey + ` = ANY($2)`
	countWaiting = `SELECT count(*) FROM ` + waiting
)

// Waiting implements domain.FeedState.
func (s *State) Waiting(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.WaitingUsage], error) {
	if scope.Restricted() {
		return domain.Slice[*domain.WaitingUsage]{}, pg.WholeCompanyOnly("usage that waits")
	}
	return keyset.ByKey(ctx, s.pool, listWaiting, listKey, waitingKey, page, (*domain.WaitingUsage).ID, scope.Company)
}

// FindWaiting implements domain.FeedState.
func (s *State) FindWaiting(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.WaitingUsage, error) {
	if scope.Restricted() {
		return nil, pg.WholeCompanyOnly("usage that waits")
	}
	found, err := pg.SelectAll[domain.WaitingUsage](ctx, s.pool, findWaiting, scope.Company, pq.StringArray(ids))
	return pg.Keyed(found, (*domain.WaitingUsage).ID), err
}

// CountWaiting implements domain.FeedState.
func (s *State) CountWaiting(ctx context.Context, scope domain.Scope) (int, error) {
	if scope.Restricted() {
		return 0, pg.WholeCompanyOnly("usage that waits")
	}
	return pg.Count(ctx, s.pool, countWaiting, scope.Company)
}
