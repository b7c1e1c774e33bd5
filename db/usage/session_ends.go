package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

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
	openElements = `
SELECT o.source, o.nas, min(o.reported_at) AS oldest, min(o.reported_at) FILTER (WHERE o.is_transferring) AS transferring
FROM sessions o
WHERE o.company_id = $1 AND o.ended_at IS NULL
GROUP BY o.source, o.nas`
	endSilent = `
UPDATE sessions n
SET is_transferring = false,
  ended_at = CASE WHEN n.reported_at < e.ended THEN n.as_of END,
  cause = CASE WHEN n.reported_at < e.ended THEN 'Timeout' ELSE '' END
FROM (
  SELECT u.source, u.nas, u.ended, u.stopped
  FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS u(source, nas, ended, stopped)
  OFFSET 0
) e
WHERE n.company_id = $1 AND n.ended_at IS NULL AND n.source = e.source AND n.nas = e.nas
  AND (n.reported_at < e.ended OR n.is_transferring AND n.reported_at < e.stopped)
RETURNING coalesce(n.subscriber_key, 0)`
)

// openElement is a network element with open sessions: when the one was reported that
// is silent longest, of all and of those that transfer.
type openElement struct {
	domain.FeedKey
	Oldest       time.Time
	Transferring *time.Time
}

// silentElement is a network element with the times before which a session was
// reported last that has ended, or transfers nothing any more.
type silentElement struct {
	domain.FeedKey
	ended, stopped time.Time
}

// EndSilent ends the sessions of all companies of which nothing was reported for
// domain.IntervalsMissed intervals. The interval of a network element is learned
// from its reports; bound is the longest that is waited for.
func (u *Store) EndSilent(ctx context.Context, bound time.Duration) error {
	return companies.Try(ctx, u.pool, func(company domain.CompanyID) error {
		silent, err := u.silentElements(ctx, company, bound)
		if err != nil || len(silent) == 0 {
			return err
		}
		return u.endSessions(ctx, company, endSilent,
			textArray(silent, func(e silentElement) string { return e.Source }), textArray(silent, func(e silentElement) string { return e.NAS }),
			TimeArray(pg.Pluck(silent, func(e silentElement) time.Time { return e.ended })), TimeArray(pg.Pluck(silent, func(e silentElement) time.Time { return e.stopped })))
	}, openCompanies)
}

// silentElements returns those of which a session may have ended.
func (u *Store) silentElements(ctx context.Context, company domain.CompanyID, bound time.Duration) ([]silentElement, error) {
	now := u.now()
	open, err := pg.SelectValues[openElement](ctx, u.pool, openElements, company)
	if err != nil {
		return nil, err
	}
	intervals, err := u.intervals(ctx, company, now, bound)
	if err != nil {
		return nil, err
	}
	listening, err := u.listening(ctx, company, intervals, bound)
	if err != nil {
		return nil, err
	}
	var silent []silentElement
	for _, e := range open {
		interval, learned := intervals[e.FeedKey]
		if !learned {
			interval = bound
		}
		since, isKnown := listening.since(e.FeedKey, now)
		if !isKnown {
			continue
		}
		of := silentElement{e.FeedKey, beforeOf(now, domain.IntervalsMissed*interval, since), beforeOf(now, domain.IntervalsTransferring*interval, since)}
		if e.Oldest.Before(of.ended) || e.Transferring != nil && e.Transferring.Before(of.stopped) {
			silent = append(silent, of)
		}
	}
	return silent, nil
}

// beforeOf returns what was reported long enough ago, unless it is not listened for
// that long.
func beforeOf(now time.Time, silence time.Duration, since time.Time) time.Time {
	if before := now.Add(-silence); since.Before(before) {
		return before
	}
	return time.Unix(0, 0)
}

// endSessions runs a statement that ends sessions, under the lock of the company
// that protects them, and gives their subscribers the state of those that are left.
func (u *Store) endSessions(ctx context.Context, company domain.CompanyID, statement string, args ...any) error {
	return pg.Retry(ctx, func() error {
		return companies.InTx(ctx, u.pool, company, func(tx *sqlx.Tx) error {
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
	keys, _, err := findNames(ctx, u.pool, company, records)
	return pg.Pluck(keys, func(key int64) bool { return key != 0 }), err
}
