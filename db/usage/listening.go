package usage

import (
	"context"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// listeningPause is how long nobody may say that a source is listened to. Instances
	// do so every 20 s.
	listeningPause = time.Minute
	// listeningForgotten is after how long without a listener sessions are ended as if
	// there were one.
	listeningForgotten = 24 * time.Hour
	// outageIntervals without any packet of a network element are an outage of it.
	outageIntervals = 2
)

const (
	// A pause ends with a new since. The since that is offered is the time from which on
	// the last packet must have come, or the last word of a listener, for none.
	noteListening = `
INSERT INTO feed_listening AS l (company_id, source, nas, seen_at, since)
SELECT own.company_id, k.source, '', $3::timestamptz, $3::timestamptz
FROM companies own
CROSS JOIN unnest($2::text[]) AS k(source)
WHERE own.company_id = $1
ORDER BY k.source
ON CONFLICT (company_id, source, nas) DO UPDATE
SET since = CASE WHEN l.seen_at < $4::timestamptz THEN excluded.seen_at ELSE l.since END, seen_at = greatest(l.seen_at, excluded.seen_at)`
	notePackets = `
INSERT INTO feed_listening AS l (company_id, source, nas, seen_at, since)
SELECT own.company_id, p.source, p.nas, p.last_at, p.last_at - coalesce(k.seconds, $5::bigint) * interval '1 second'
FROM companies own
CROSS JOIN (
  SELECT source, nas, max(last_at) AS last_at FROM feed_packets WHERE company_id = $1 AND nas <> '' GROUP BY source, nas
) p
LEFT JOIN unnest($2::text[], $3::text[], $4::bigint[]) AS k(source, nas, seconds) ON k.source = p.source AND k.nas = p.nas
WHERE own.company_id = $1
ORDER BY p.source, p.nas
ON CONFLICT (company_id, source, nas) DO UPDATE
SET since = CASE WHEN l.seen_at < excluded.since THEN excluded.seen_at ELSE l.since END, seen_at = excluded.seen_at
WHERE l.seen_at < excluded.seen_at`
	listListening = `SELECT l.source, l.nas, l.seen_at, l.since FROM feed_listening l WHERE l.company_id = $1`
)

// Listen records that sources of a company are listened to now. Call it every 20 s.
func (u *Store) Listen(ctx context.Context, company domain.CompanyID, sources []string) error {
	now := u.now()
	_, err := pg.Affected(ctx, u.pool, noteListening, company, textArray(sources, func(s string) string { return s }), now, now.Add(-listeningPause))
	return err
}

// listened is when the packets of a network element began to come that have come
// without a long pause, and the last of them.
type listened struct {
	domain.FeedKey
	SeenAt, Since time.Time
}

// listeners are those of the sources, with NAS "", and of their network elements.
type listeners map[domain.FeedKey]listened

// listening notes the packets that have come, and returns since when they do.
func (u *Store) listening(ctx context.Context, company domain.CompanyID, intervals map[domain.FeedKey]time.Duration, bound time.Duration) (listeners, error) {
	keys := make([]domain.FeedKey, 0, len(intervals))
	for key := range intervals {
		keys = append(keys, key)
	}
	_, err := pg.Affected(ctx, u.pool, notePackets, company,
		textArray(keys, func(k domain.FeedKey) string { return k.Source }), textArray(keys, func(k domain.FeedKey) string { return k.NAS }),
		intArray(keys, func(k domain.FeedKey) int64 { return int64(outageIntervals * intervals[k] / time.Second) }), int64(outageIntervals*bound/time.Second))
	if err != nil {
		return nil, err
	}
	rows, err := pg.SelectValues[listened](ctx, u.pool, listListening, company)
	of := make(listeners, len(rows))
	for _, r := range rows {
		of[r.FeedKey] = r
	}
	return of, err
}

// since is from when on silence of a network element means something; not while nobody
// listens to its source.
func (l listeners) since(of domain.FeedKey, now time.Time) (time.Time, bool) {
	source, known := l[domain.FeedKey{Source: of.Source}]
	if pause := now.Sub(source.SeenAt); known && pause > listeningPause && pause < listeningForgotten {
		return time.Time{}, false
	}
	if element := l[of]; element.Since.After(source.Since) {
		return element.Since, true
	}
	return source.Since, true
}
