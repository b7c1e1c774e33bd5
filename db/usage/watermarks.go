package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// maxWatermarks bounds the network elements of a company that have one. Those beyond are
// as their source is.
const maxWatermarks = 5000

// moveWatermarks moves them to the times that reports speak of. $5 is whether one of them
// was late, $6 when they arrived; late ones before $7 are of an earlier time of lag. $8
// bounds how many there are. $9 are the least lags, and hours of them began after $10.
const moveWatermarks = `
INSERT INTO feed_watermarks AS w (company_id, source, nas, complete_until, reported_at, lagged_at, lagging_since, lag_began_at, least_lag)
SELECT own.company_id, n.source, n.nas, n.complete_until, $6::timestamptz,
  CASE WHEN n.is_late THEN $6::timestamptz END, CASE WHEN n.is_late THEN $6::timestamptz END, $6::timestamptz, n.lag
FROM companies own
CROSS JOIN unnest($2::text[], $3::text[], $4::timestamptz[], $5::boolean[], $9::bigint[])
  WITH ORDINALITY AS n(source, nas, complete_until, is_late, lag, place)
WHERE own.company_id = $1 AND ((SELECT count(*) FROM feed_watermarks o WHERE o.company_id = $1) + n.place <= $8
  OR EXISTS (SELECT FROM feed_watermarks o WHERE o.company_id = $1 AND o.source = n.source AND o.nas = n.nas))
ORDER BY n.source, n.nas
ON CONFLICT (company_id, source, nas) DO UPDATE
SET complete_until = greatest(w.complete_until, excluded.complete_until), reported_at = greatest(w.reported_at, excluded.reported_at),
  lagged_at = coalesce(excluded.lagged_at, w.lagged_at),
  lagging_since = CASE WHEN excluded.lagged_at IS NULL OR w.lagged_at > $7::timestamptz THEN w.lagging_since ELSE excluded.lagged_at END,
  lag_began_at = CASE WHEN w.lag_began_at > $10::timestamptz THEN w.lag_began_at ELSE excluded.lag_began_at END,
  lag_before = CASE WHEN w.lag_began_at > $10::timestamptz THEN w.lag_before ELSE w.least_lag END,
  least_lag = CASE WHEN w.lag_began_at > $10::timestamptz THEN least(w.least_lag, excluded.least_lag) ELSE excluded.least_lag END`

// watermark is what the readings of a batch say of their network element.
type watermark struct {
	until  time.Time
	isLate bool
	// lag is the least between the time of a reading and its arrival.
	lag time.Duration
}

// lagSpan is of how much time the least lag is taken.
const lagSpan = time.Hour

// moveWatermarks takes those readings into account that were not rejected.
func (u *Store) moveWatermarks(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, b *usageBatch) error {
	marks := map[domain.FeedKey]watermark{}
	arrived := u.now()
	for _, r := range slices.Concat(b.readings, b.followed) {
		if b.results[r.place].Status == domain.UsageRejected {
			continue
		}
		key := domain.FeedKey{Source: r.Source, NAS: r.Report.NAS}
		mark, known := marks[key]
		if lag := max(0, arrived.Sub(r.EndedAt)); !known || lag < mark.lag {
			mark.lag = lag
		}
		if r.EndedAt.After(mark.until) {
			mark.until = r.EndedAt
		}
		mark.isLate = mark.isLate || domain.IsLate(&r.UsageRecord, arrived)
		marks[key] = mark
	}
	if len(marks) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(marks), func(x, y domain.FeedKey) int {
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.NAS, y.NAS))
	})
	_, err := tx.ExecContext(ctx, moveWatermarks, company,
		textArray(keys, func(k domain.FeedKey) string { return k.Source }), textArray(keys, func(k domain.FeedKey) string { return k.NAS }),
		TimeArray(pg.Pluck(keys, func(k domain.FeedKey) time.Time { return marks[k].until })),
		pq.BoolArray(pg.Pluck(keys, func(k domain.FeedKey) bool { return marks[k].isLate })), arrived, arrived.Add(-domain.CatchUpPause), maxWatermarks,
		intArray(keys, func(k domain.FeedKey) int64 { return int64(marks[k].lag / time.Second) }), arrived.Add(-lagSpan))
	return pg.Translate(err)
}

// pruneWatermarks spares those of companies that have few.
const pruneWatermarks = `
DELETE FROM feed_watermarks
WHERE company_id = $1 AND greatest(complete_until, reported_at) < $2 AND (SELECT count(*) FROM feed_watermarks w WHERE w.company_id = $1) >= $3`

// PruneWatermarks makes room where there are many: those of network elements that have
// been silent since before a time go. Where there are few they stay, since subscribers
// that such an element had last are not known to be silent. Call it every hour.
func (u *Store) PruneWatermarks(ctx context.Context, before time.Time) error {
	all, err := pg.SelectValues[domain.CompanyID](ctx, u.pool, allCompanies)
	if err != nil {
		return err
	}
	return domain.TryCompanies(ctx, all, func(company domain.CompanyID) error {
		_, err := pg.Affected(ctx, u.pool, pruneWatermarks, company, before, maxWatermarks/2)
		return err
	})
}
