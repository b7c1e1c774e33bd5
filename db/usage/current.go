package usage

import (
	"context"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
)

const currentUsage = `
SELECT p.subscriber_key, p.mobile_originated + p.mobile_terminated AS bytes
FROM subscriber_periods p
WHERE p.company_id = $1 AND p.period_start = $2 AND p.subscriber_key `

// CurrentOf implements domain.Usage.
func (u *Store) CurrentOf(ctx context.Context, scope domain.Scope, periodStart time.Time, subscribers []int64) (map[int64]int64, error) {
	type total struct{ SubscriberKey, Bytes int64 }
	is, key := pg.Is(subscribers)
	totals, err := pg.SelectAll[total](ctx, u.pool, currentUsage+is+"($3)", scope.Company, periodStart, key)
	if err != nil {
		return nil, err
	}
	current := make(map[int64]int64, len(totals))
	for _, t := range totals {
		current[t.SubscriberKey] = t.Bytes
	}
	return current, nil
}
