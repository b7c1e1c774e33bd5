package feed

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/flight"
)

// sharedCalls bounds the requests that share a statement.
const sharedCalls = 2_000

// shared are the statements that requests share with those that come while one runs:
// a flood of requests makes statements longer, and not more.
type shared struct {
	restarts flight.Group[domain.CompanyID, usage.Restart, struct{}]
	owners   flight.Group[domain.CompanyID, *domain.UsageRecord, bool]
	writable flight.Group[struct{}, struct{}, struct{}]
}

func newShared(pool *sqlx.DB, ledger *usage.Store) *shared {
	s := &shared{}
	s.restarts.MaxFlight, s.restarts.Weigh = sharedCalls, func(usage.Restart) int { return 1 }
	s.restarts.Run = func(ctx context.Context, company domain.CompanyID, restarts []usage.Restart) []flight.Result[struct{}] {
		return flight.Same(len(restarts), struct{}{}, ledger.EndRestarted(ctx, company, restarts))
	}
	s.owners.MaxFlight, s.owners.Weigh = sharedCalls, func(*domain.UsageRecord) int { return 1 }
	s.owners.Run = func(ctx context.Context, company domain.CompanyID, records []*domain.UsageRecord) []flight.Result[bool] {
		found, err := ledger.HaveSubscribers(ctx, company, records)
		results := flight.Same(len(records), false, err)
		for i := range found {
			results[i].Value = found[i]
		}
		return results
	}
	s.writable.Run = func(ctx context.Context, _ struct{}, calls []struct{}) []flight.Result[struct{}] {
		return flight.Same(len(calls), struct{}{}, writable(ctx, pool))
	}
	return s
}

// writable returns an error while requests cannot be stored.
func writable(ctx context.Context, pool *sqlx.DB) error {
	reason, err := pg.ReadOnly(ctx, pool)
	if err == nil && reason != "" {
		err = domain.Unavailable(errors.New(reason))
	}
	return err
}
