package feed

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// maxElements bounds the counts of a company: a thousand network elements or so. What
// comes beyond is counted for its source alone.
const maxElements = 5000

const storePackets = `
INSERT INTO feed_packets AS p (company_id, source, nas, result, packets, last_at)
SELECT own.company_id, n.source, n.nas, n.result, sum(n.packets), max(n.last_at)
FROM companies own
CROSS JOIN (
  SELECT k.source, CASE WHEN (SELECT count(*) FROM feed_packets WHERE company_id = $1) + row_number() OVER () <= $7
      OR EXISTS (SELECT FROM feed_packets o WHERE o.company_id = $1 AND o.source = k.source AND o.nas = k.nas) THEN k.nas ELSE '' END AS nas,
    k.result, k.packets, k.last_at
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[]) AS k(source, nas, result, packets, last_at)
) n
WHERE own.company_id = $1
GROUP BY own.company_id, n.source, n.nas, n.result
ORDER BY n.source, n.nas, n.result
ON CONFLICT (company_id, source, nas, result) DO UPDATE
SET packets = p.packets + excluded.packets, last_at = greatest(p.last_at, excluded.last_at)`

// tallyKey is what packets are counted by.
type tallyKey struct {
	company domain.CompanyID
	domain.FeedKey
	result domain.AccountingResult
}

// maxTally bounds the network elements that are counted between two flushes. What
// comes beyond is counted for its source alone.
const maxTally = 10_000

// count notes a packet for the next Flush.
func (f *Store) count(company domain.CompanyID, of domain.FeedKey, result domain.AccountingResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := tallyKey{company, of, result}
	packets, known := f.tally[key]
	if !known && len(f.tally) >= maxTally {
		key.NAS = ""
		packets = f.tally[key]
	}
	packets.Packets++
	packets.LastAt = f.usage.Now()
	f.tally[key] = packets
}

// Flush stores the counts of packets. Call it every few seconds and at the end. What
// cannot be stored is counted on.
func (f *Store) Flush(ctx context.Context) error {
	f.mu.Lock()
	counted := f.tally
	f.tally = map[tallyKey]domain.FeedPackets{}
	f.mu.Unlock()
	byCompany := map[domain.CompanyID][]tallyKey{}
	for key := range counted {
		byCompany[key.company] = append(byCompany[key.company], key)
	}
	var failed error
	for company, keys := range byCompany {
		if err := f.flush(ctx, company, keys, counted); err != nil {
			failed = err
			f.restore(keys, counted)
		}
	}
	return errors.Join(failed, f.usage.FlushGaps(ctx), f.flushRefusals(ctx))
}

func (f *Store) flush(ctx context.Context, company domain.CompanyID, keys []tallyKey, counted map[tallyKey]domain.FeedPackets) error {
	sources, elements := namesOf(pg.Pluck(keys, func(k tallyKey) domain.FeedKey { return k.FeedKey }))
	_, err := pg.Affected(ctx, f.pool, storePackets, company, sources, elements,
		pq.StringArray(pg.Pluck(keys, func(k tallyKey) string { return string(k.result) })),
		pq.Int64Array(pg.Pluck(keys, func(k tallyKey) int64 { return counted[k].Packets })),
		usage.TimeArray(pg.Pluck(keys, func(k tallyKey) time.Time { return counted[k].LastAt })), maxElements)
	return err
}

func (f *Store) restore(keys []tallyKey, counted map[tallyKey]domain.FeedPackets) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		packets := f.tally[key]
		packets.Packets += counted[key].Packets
		if packets.LastAt.Before(counted[key].LastAt) {
			packets.LastAt = counted[key].LastAt
		}
		f.tally[key] = packets
	}
}
