package usage

import (
	"context"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const currentUsage = `
SELECT p.subscriber_key, p.mobile_originated + p.mobile_terminated AS bytes
FROM subscriber_periods p
WHERE p.company_id = $1 AND p.period_start = $2 AND p.subscriber_key = ANY($3)`

// CurrentOf implements domain.Usage.
func (u *Store) CurrentOf(ctx context.Context, scope domain.Scope, periodStart time.Time, subscribers []int64) (map[int64]int64, error) {
	type total struct{ SubscriberKey, Bytes int64 }
	totals, err := pg.SelectAll[total](ctx, u.pool, currentUsage, scope.Company, periodStart, pq.Int64Array(subscribers))
	if err != nil {
		return nil, err
	}
	current := make(map[int64]int64, len(totals))
	for _, t := range totals {
		current[t.SubscriberKey] = t.Bytes
	}
	return current, nil
}
