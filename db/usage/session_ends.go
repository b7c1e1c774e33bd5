package usage

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

const endRestarted = `
UPDATE sessions n SET ended_at = e.at, cause = 'NAS-Restart', is_transferring = false
FROM (
  SELECT u.source, u.nas, max(u.at) AS at
  FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS u(source, nas, at)
  GROUP BY u.source, u.nas
  OFFSET 0
) e
WHERE n.company_id = $1 AND n.source = e.source AND n.nas = e.nas AND n.ended_at IS NULL AND n.as_of <= e.at
RETURNING coalesce(n.subscriber_key, 0)`

// Restart is a network element of a source that went up or down then.
type Restart struct {
	Source, NAS string
	At          time.Time
}

// EndRestarted ends the sessions of network elements that went up or down.
func (u *Store) EndRestarted(ctx context.Context, company domain.CompanyID, restarts []Restart) error {
	return u.endSessions(ctx, company, endRestarted,
		textArray(restarts, func(r Restart) string { return r.Source }), textArray(restarts, func(r Restart) string { return r.NAS }),
		TimeArray(pg.Pluck(restarts, func(r Restart) time.Time { return r.At })))
}

const (
	openCompanies = `
SELECT c.company_id
FROM companies c
WHERE ($1::bigint[] IS NULL OR c.company_id = ANY($1)) AND EXISTS (
  SELECT FROM sessions n
  WHERE n.company_id = c.company_id AND ($1::bigint[] IS NULL OR n.company_id = ANY($1)) AND n.ended_at IS NULL)
ORDER BY c.company_id`
	// silentElements are the network elements with sessions of which nothing was
	// reported for too long, and the interval of reports that is expected: what holds
	// for nine in ten of their sessions, within $6 and $5 seconds. One pass over the
	// open sessions counts their intervals; the rest is done on the counts.
	silentElements = `
WITH counts AS (
  SELECT o.source, o.nas, nullif(o.interval_seconds, 0) AS seconds, count(*) AS sessions, min(o.reported_at) AS oldest,
    min(o.reported_at) FILTER (WHERE o.is_transferring) AS transferring
  FROM sessions o
  WHERE o.company_id = $1 AND o.ended_at IS NULL
  GROUP BY o.source, o.nas, o.interval_seconds
), ranked AS (
  SELECT c.*, sum(c.sessions) FILTER (WHERE c.seconds IS NOT NULL) OVER (PARTITION BY c.source, c.nas) AS known,
    sum(c.sessions) OVER (PARTITION BY c.source, c.nas ORDER BY c.seconds) AS rank
  FROM counts c
), elements AS (
  SELECT r.source, r.nas, min(r.oldest) AS oldest, min(r.transferring) AS transferring,
    greatest($6::int, least($5::int, coalesce(min(r.seconds) FILTER (WHERE r.rank >= 0.9 * r.known), $5))) AS seconds
  FROM ranked r
  GROUP BY r.source, r.nas
)
SELECT e.source, e.nas, e.seconds
FROM elements e
WHERE e.oldest < $2::timestamptz - $3::int * e.seconds * interval '1 second'
  OR e.transferring < $2::timestamptz - $4::int * e.seconds * interval '1 second'`
	endSilent = `
UPDATE sessions n
SET is_transferring = false,
  ended_at = CASE WHEN n.reported_at < e.ended THEN n.as_of END,
  cause = CASE WHEN n.reported_at < e.ended THEN 'Timeout' ELSE '' END
FROM (
  SELECT u.source, u.nas, $2::timestamptz - $3::int * u.seconds * interval '1 second' AS ended,
    $2::timestamptz - $4::int * u.seconds * interval '1 second' AS stopped
  FROM unnest($5::text[], $6::text[], $7::bigint[]) AS u(source, nas, seconds)
  OFFSET 0
) e
WHERE n.company_id = $1 AND n.ended_at IS NULL AND n.source = e.source AND n.nas = e.nas
  AND (n.reported_at < e.ended OR n.is_transferring AND n.reported_at < e.stopped)
RETURNING coalesce(n.subscriber_key, 0)`
)

// silentElement is a network element with the interval of its reports.
type silentElement struct {
	Source, NAS string
	Seconds     int64
}

// EndSilent ends the sessions of all companies of which nothing was reported for
// domain.IntervalsMissed intervals. The interval of a network element is learned
// from its reports; bound is the longest that is waited for.
func (u *Store) EndSilent(ctx context.Context, bound time.Duration) error {
	open, lost := companies.With(ctx, u.pool, openCompanies)
	return errors.Join(lost, domain.TryCompanies(ctx, open, func(company domain.CompanyID) error {
		args := []any{u.now(), domain.IntervalsMissed, domain.IntervalsTransferring}
		silent, err := pg.SelectAll[silentElement](ctx, u.pool, silentElements,
			append(append([]any{company}, args...), int(bound/time.Second), int(domain.MinInterval/time.Second))...)
		if err != nil || len(silent) == 0 {
			return err
		}
		return u.endSessions(ctx, company, endSilent, append(args,
			textArray(silent, func(e *silentElement) string { return e.Source }), textArray(silent, func(e *silentElement) string { return e.NAS }),
			intArray(silent, func(e *silentElement) int64 { return e.Seconds }))...)
	}))
}

// endSessions runs a statement that ends sessions, under the lock of the company
// that protects them, and gives their subscribers the state of those that are left.
func (u *Store) endSessions(ctx context.Context, company domain.CompanyID, statement string, args ...any) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error {
			if _, err := Lock(ctx, tx, company); err != nil {
				return err
			}
			keys, err := pg.SelectValues[int64](ctx, tx, statement, append([]any{company}, args...)...)
			if err != nil {
				return err
			}
			return u.setNetworkState(ctx, tx, company, keys)
		})
	})
}

// HaveSubscribers reports of each record whether the company has its subscriber.
func (u *Store) HaveSubscribers(ctx context.Context, company domain.CompanyID, records []*domain.UsageRecord) ([]bool, error) {
	var keys pq.Int64Array
	err := u.pool.QueryRowxContext(ctx, findReadings, company,
		textArray(records, func(r *domain.UsageRecord) string { return r.PhysicalID }),
		textArray(records, func(r *domain.UsageRecord) string { return networkName(r, imsiOf) }),
		textArray(records, func(r *domain.UsageRecord) string { return networkName(r, msisdnOf) })).Scan(&keys)
	return pg.Pluck(keys, func(key int64) bool { return key != 0 }), pg.Translate(err)
}
