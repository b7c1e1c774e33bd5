package usage

import (
	"context"

	"simgraph/db/pg"
	"simgraph/domain"
)

const usageSources = `
SELECT source, complete_until
FROM usage_sources
WHERE company_id = $1
ORDER BY source
LIMIT 1000`

// Sources implements domain.Usage.
func (u *Store) Sources(ctx context.Context, scope domain.Scope) ([]*domain.UsageSource, error) {
	return pg.SelectAll[domain.UsageSource](ctx, u.pool, usageSources, scope.Company)
}
