package usage

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// gapKey is what gaps between reports are counted by.
type gapKey struct {
	source, nas string
	seconds     int64
}

const (
	// maxGaps bounds what is counted of a company between two flushes. More gaps
	// change nothing about an interval.
	maxGaps = 10_000
	// gapHalfLife is how soon a gap weighs half: an interval that was changed is
	// learned within an hour. Statements bound the exponent, which must not underflow.
	gapHalfLife = 6 * time.Hour
	// gapsKept is how long a step is kept that did not come again.
	gapsKept = 7 * 24 * time.Hour
	// leastGaps are needed before an interval is believed, and intervalQuantile of
	// them are no longer than it.
	leastGaps        = 3
	intervalQuantile = 0.9
)

// countGaps notes the gaps of a batch for the next FlushGaps.
func (u *Store) countGaps(company domain.CompanyID, gaps map[gapKey]int64) {
	if len(gaps) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	counted := u.gaps[company]
	if counted == nil {
		counted = map[gapKey]int64{}
		u.gaps[company] = counted
	}
	for key, n := range gaps {
		if _, known := counted[key]; known || len(counted) < maxGaps {
			counted[key] += n
		}
	}
}

const (
	storeGaps = `
INSERT INTO feed_gaps AS g (company_id, source, nas, seconds, gaps, first_at, counted_at)
SELECT own.company_id, k.source, k.nas, k.seconds, k.gaps, $2::timestamptz, $2::timestamptz
FROM companies own
CROSS JOIN unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[]) AS k(source, nas, seconds, gaps)
WHERE own.company_id = $1
ORDER BY k.source, k.nas, k.seconds
ON CONFLICT (company_id, source, nas, seconds) DO UPDATE
SET gaps = g.gaps * power(0.5, least(1000, greatest(0, extract(epoch FROM excluded.counted_at - g.counted_at)) / $7::double precision)) + excluded.gaps,
  counted_at = greatest(g.counted_at, excluded.counted_at)`
	pruneGaps = `DELETE FROM feed_gaps WHERE company_id = $1 AND counted_at < $2`
)

// FlushGaps stores the gaps that were counted. Call it every few seconds and at the
// end; those of a crash are lost, which delays what is learned.
func (u *Store) FlushGaps(ctx context.Context) error {
	u.mu.Lock()
	counted := u.gaps
	u.gaps = map[domain.CompanyID]map[gapKey]int64{}
	u.mu.Unlock()
	var failures []error
	for company, gaps := range counted {
		if err := u.flushGaps(ctx, company, gaps); err != nil {
			failures = append(failures, err)
			u.countGaps(company, gaps)
		}
	}
	return errors.Join(failures...)
}

func (u *Store) flushGaps(ctx context.Context, company domain.CompanyID, gaps map[gapKey]int64) error {
	keys := make([]gapKey, 0, len(gaps))
	for key := range gaps {
		keys = append(keys, key)
	}
	now := u.now()
	_, err := pg.Affected(ctx, u.pool, storeGaps, company, now,
		textArray(keys, func(k gapKey) string { return k.source }), textArray(keys, func(k gapKey) string { return k.nas }),
		intArray(keys, func(k gapKey) int64 { return k.seconds }), pq.Int64Array(pg.Pluck(keys, func(k gapKey) int64 { return gaps[k] })), gapHalfLife.Seconds())
	if err != nil {
		return err
	}
	_, err = pg.Affected(ctx, u.pool, pruneGaps, company, now.Add(-gapsKept))
	return err
}

// learnedIntervals are what the gaps of network elements amount to. One that reports
// for the first time may send something at once: it is not believed within the bound.
const learnedIntervals = `
WITH weights AS (
  SELECT g.source, g.nas, g.seconds, g.gaps, g.first_at,
    g.gaps * power(0.5, least(1000, greatest(0, extract(epoch FROM $2::timestamptz - g.counted_at)) / $3::double precision)) AS weight
  FROM feed_gaps g
  WHERE g.company_id = $1
), ranked AS (
  SELECT w.source, w.nas, w.seconds, sum(w.gaps) OVER element AS known, min(w.first_at) OVER element AS since, sum(w.weight) OVER element AS total,
    sum(w.weight) OVER (PARTITION BY w.source, w.nas ORDER BY w.seconds) AS rank
  FROM weights w
  WINDOW element AS (PARTITION BY w.source, w.nas)
)
SELECT r.source, r.nas, min(r.seconds) AS seconds
FROM ranked r
WHERE r.rank >= $4::double precision * r.total AND r.known >= $5::double precision AND r.since <= $6::timestamptz
GROUP BY r.source, r.nas`

// intervals returns the intervals of reports that were learned, up to the bound.
func (u *Store) intervals(ctx context.Context, company domain.CompanyID, now time.Time, bound time.Duration) (map[domain.FeedKey]time.Duration, error) {
	type row struct {
		domain.FeedKey
		Seconds int64
	}
	rows, err := pg.SelectValues[row](ctx, u.pool, learnedIntervals, company, now, gapHalfLife.Seconds(), intervalQuantile, leastGaps-0.5, now.Add(-bound))
	learned := make(map[domain.FeedKey]time.Duration, len(rows))
	for _, r := range rows {
		learned[r.FeedKey] = min(bound, max(domain.MinInterval, time.Duration(r.Seconds)*time.Second))
	}
	return learned, err
}
