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
 UNION SELECT source, nas FROM feed_packets WHERE company_id = $1
 UNION SELECT source, nas FROM feed_watermarks WHERE company_id = $1) e`
	completeUntil  = `(CASE WHEN e.nas = '' THEN u.complete_until ELSE w.complete_until END)`
	lagSeconds     = `least(w.least_lag, w.lag_before)`
	elementColumns = `e.source, e.nas, ` + completeUntil + ` AS complete_until, ` + lagSeconds + ` AS lag_seconds`
	fromElements   = `
FROM ` + elements + `
LEFT JOIN usage_sources u ON u.company_id = $1 AND u.source = e.source
LEFT JOIN feed_watermarks w ON w.company_id = $1 AND w.source = e.source AND w.nas = e.nas
WHERE true`
	elementKey   = `((e.source || chr(31) || e.nas) COLLATE "C")`
	findElements = `SELECT ` + elementColumns + fromElements + ` AND ` + elementKey + ` = ANY($2)`
	packetsOf    = `
SELECT p.source, p.nas, p.result, p.packets, p.last_at
FROM feed_packets p
JOIN unnest($2::text[], $3::text[]) AS k(source, nas) ON k.source = p.source AND k.nas = p.nas
WHERE p.company_id = $1
ORDER BY p.result`
)

// elementsTable is the list of domain.FeedElementFields.
var elementsTable = keyset.Table{
	Key: listKey, Select: elementColumns, From: fromElements,
	Columns: map[string]keyset.Column{
		listKey.Name: {SQL: elementKey}, "source": {SQL: "e.source"}, "nas": {SQL: "nullif(e.nas, '')", Nullable: true},
		"completeUntil": {SQL: completeUntil, Nullable: true}, "lagSeconds": {SQL: lagSeconds, Nullable: true},
	},
}

type listedElement struct {
	domain.FeedElement
	keyset.Keyed
}

// Elements implements domain.FeedState.
func (s *State) Elements(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.FeedElement], error) {
	slice, err := keyset.Page(ctx, s.pool, elementsTable, scope, listing, func(r *listedElement) *domain.FeedElement { return &r.FeedElement })
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
func (s *State) CountElements(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return elementsTable.Count(ctx, s.pool, scope, listing)
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
	rejectColumns = `r.source, r.nas, r.reason, r.requests, r.first_at, r.last_at, r.example`
	fromRejects   = `
FROM feed_rejects r
WHERE r.company_id = $1`
	rejectKey   = `((r.source || chr(31) || r.nas || chr(31) || r.reason) COLLATE "C")`
	findRejects = `SELECT ` + rejectColumns + fromRejects + ` AND ` + rejectKey + ` = ANY($2)`
)

// rejectsTable is the list of domain.FeedRejectFields.
var rejectsTable = keyset.Table{
	Key: listKey, Order: keyset.Newest("lastAt"), Select: rejectColumns, From: fromRejects, WholeOnly: "rejected requests",
	Columns: map[string]keyset.Column{
		listKey.Name: {SQL: rejectKey}, "source": {SQL: "r.source"}, "nas": {SQL: "nullif(r.nas, '')", Nullable: true}, "reason": {SQL: "r.reason"},
		"requests": {SQL: "r.requests"}, "firstAt": {SQL: "r.first_at"}, "lastAt": {SQL: "r.last_at"},
	},
}

type listedReject struct {
	domain.FeedReject
	keyset.Keyed
}

// Rejects implements domain.FeedState.
func (s *State) Rejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.FeedReject], error) {
	return keyset.Page(ctx, s.pool, rejectsTable, scope, listing, func(r *listedReject) *domain.FeedReject { return &r.FeedReject })
}

// FindRejects implements domain.FeedState.
func (s *State) FindRejects(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.FeedReject, error) {
	if err := pg.WholeCompanyOnly(scope, "rejected requests"); err != nil {
		return nil, err
	}
	found, err := pg.SelectAll[domain.FeedReject](ctx, s.pool, findRejects, scope.Company, pq.StringArray(ids))
	return pg.Keyed(found, (*domain.FeedReject).ID), err
}

// CountRejects implements domain.FeedState.
func (s *State) CountRejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return rejectsTable.Count(ctx, s.pool, scope, listing)
}

const (
	waiting = `
(SELECT q.physical_id, q.imsi, q.msisdn, q.source, count(*) AS records, sum(q.mobile_originated + q.mobile_terminated)::bigint AS bytes,
   min(q.started_at) AS first_at, max(q.ended_at) AS last_at
 FROM usage_quarantine q
 WHERE q.company_id = $1
 GROUP BY q.physical_id, q.imsi, q.msisdn, q.source) w`
	fromWaiting = ` FROM ` + waiting + ` WHERE true`
	waitingKey  = `((w.physical_id || chr(31) || w.imsi || chr(31) || w.msisdn || chr(31) || w.source) COLLATE "C")`
	findWaiting = `SELECT w.*` + fromWaiting + ` AND ` + waitingKey + ` = ANY($2)`
)

// waitingTable is the list of domain.WaitingFields.
var waitingTable = keyset.Table{
	Key: listKey, Select: "w.*", From: fromWaiting, WholeOnly: "usage that waits",
	Columns: map[string]keyset.Column{
		listKey.Name: {SQL: waitingKey}, "source": {SQL: "w.source"}, "physicalId": {SQL: "nullif(w.physical_id, '')", Nullable: true},
		"imsi": {SQL: "nullif(w.imsi, '')", Nullable: true}, "msisdn": {SQL: "nullif(w.msisdn, '')", Nullable: true},
		"records": {SQL: "w.records"}, "bytes": {SQL: "w.bytes"}, "firstAt": {SQL: "w.first_at"}, "lastAt": {SQL: "w.last_at"},
	},
}

type listedWaiting struct {
	domain.WaitingUsage
	keyset.Keyed
}

// Waiting implements domain.FeedState.
func (s *State) Waiting(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.WaitingUsage], error) {
	return keyset.Page(ctx, s.pool, waitingTable, scope, listing, func(r *listedWaiting) *domain.WaitingUsage { return &r.WaitingUsage })
}

// FindWaiting implements domain.FeedState.
func (s *State) FindWaiting(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.WaitingUsage, error) {
	if err := pg.WholeCompanyOnly(scope, "usage that waits"); err != nil {
		return nil, err
	}
	found, err := pg.SelectAll[domain.WaitingUsage](ctx, s.pool, findWaiting, scope.Company, pq.StringArray(ids))
	return pg.Keyed(found, (*domain.WaitingUsage).ID), err
}

// CountWaiting implements domain.FeedState.
func (s *State) CountWaiting(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return waitingTable.Count(ctx, s.pool, scope, listing)
}
