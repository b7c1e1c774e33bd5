package usage

import (
	"context"
	"time"

	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/upstream"
)

const usageSources = `
SELECT source, complete_until
FROM usage_sources
WHERE company_id = $1
ORDER BY source
LIMIT 1000`

// sourcesTable is the list of domain.UsageSourceFields.
var sourcesTable = keyset.Table{
	Key: query.Field{Name: "source", Type: query.Text}, Select: `u.source, u.complete_until`, From: ` FROM usage_sources u WHERE u.company_id = $1`,
	Columns: map[string]keyset.Column{"source": {SQL: "u.source"}, "completeUntil": {SQL: "u.complete_until"}},
}

type listedSource struct {
	domain.UsageSource
	keyset.Keyed
}

// ListSources implements domain.Usage.
func (u *Store) ListSources(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.UsageSource], error) {
	return keyset.Page(ctx, u.pool, sourcesTable, scope, listing, func(r *listedSource) *domain.UsageSource { return &r.UsageSource })
}

// CountSources implements domain.Usage.
func (u *Store) CountSources(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return sourcesTable.Count(ctx, u.pool, scope, listing)
}

const findSources = `SELECT u.source, u.complete_until FROM usage_sources u WHERE u.company_id = $1 AND u.source = ANY($2)`

// FindSources implements domain.Usage.
func (u *Store) FindSources(ctx context.Context, scope domain.Scope, names []string) (map[string]*domain.UsageSource, error) {
	found, err := pg.SelectAll[domain.UsageSource](ctx, u.pool, findSources, scope.Company, pq.StringArray(names))
	return pg.Keyed(found, func(s *domain.UsageSource) string { return s.Source }), err
}

// Sources implements domain.Usage.
func (u *Store) Sources(ctx context.Context, scope domain.Scope) ([]*domain.UsageSource, error) {
	return pg.SelectAll[domain.UsageSource](ctx, u.pool, usageSources, scope.Company)
}

const (
	reportedFrom = `
FROM usage_records r
JOIN subscribers s ON s.company_id = $1 AND s.key = r.subscriber_key
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 AND r.source = $4`
	reportedVolumes = `
  sum(r.mobile_originated)::bigint AS mobile_originated, sum(r.mobile_terminated)::bigint AS mobile_terminated, count(*) AS records`
	reportedBySubscriber = `
SELECT s.physical_id, s.subscriber_id, 0 AS hour,` + reportedVolumes + reportedFrom + `
GROUP BY s.physical_id, s.subscriber_id`
	reportedHours = `
SELECT s.physical_id, s.subscriber_id, floor(extract(epoch FROM r.started_at) / 3600)::bigint AS hour,` + reportedVolumes + reportedFrom + ` AND s.physical_id = ANY($5)
GROUP BY s.physical_id, s.subscriber_id, 3`
	reportedByHour = `
SELECT '' AS physical_id, '' AS subscriber_id, floor(extract(epoch FROM r.started_at) / 3600)::bigint AS hour,` + reportedVolumes + `
FROM usage_records r
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 AND r.source = $4
GROUP BY 3`
)

// ReportedBySubscriber returns what the ledger has by a source of each subscriber, of records
// that began in a part of time.
func (u *Store) ReportedBySubscriber(ctx context.Context, scope domain.Scope, source string, from, until time.Time) ([]*upstream.Reported, error) {
	return pg.SelectAll[upstream.Reported](ctx, u.pool, reportedBySubscriber, scope.Company, from, until, source)
}

// ReportedHours returns what the ledger has by a source of some subscribers, by the hour.
func (u *Store) ReportedHours(ctx context.Context, scope domain.Scope, source string, from, until time.Time, physicalIDs []string) ([]*upstream.Reported, error) {
	return pg.SelectAll[upstream.Reported](ctx, u.pool, reportedHours, scope.Company, from, until, source, pq.StringArray(physicalIDs))
}

// ReportedByHour returns what the ledger has by a source of the company, by the hour.
func (u *Store) ReportedByHour(ctx context.Context, scope domain.Scope, source string, from, until time.Time) ([]*upstream.Reported, error) {
	return pg.SelectAll[upstream.Reported](ctx, u.pool, reportedByHour, scope.Company, from, until, source)
}
