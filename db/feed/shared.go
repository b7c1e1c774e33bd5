package feed

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/flight"
)

const (
	// sharedCalls bounds the requests that share a statement.
	sharedCalls = 2_000
	// writableFor is how long it counts that requests can be stored. The statement is so
	// quick that a flood which comes in turns would have one for each of them.
	writableFor = 250 * time.Millisecond
)

// shared are the statements that requests share with those that come while one runs:
// a flood of requests makes statements longer, and not more.
type shared struct {
	restarts  flight.Group[domain.CompanyID, usage.Restart, struct{}]
	owners    flight.Group[domain.CompanyID, *domain.UsageRecord, bool]
	addressed flight.Group[domain.CompanyID, []string, *addressee]
	writable  flight.Group[struct{}, struct{}, struct{}]
	// wasWritable is when that was asked last and found so; nil for never.
	wasWritable atomic.Pointer[time.Time]
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
	s.addressed.MaxFlight, s.addressed.Weigh = sharedCalls, func([]string) int { return 1 }
	s.addressed.Run = func(ctx context.Context, company domain.CompanyID, calls [][]string) []flight.Result[*addressee] {
		found, err := addressees(ctx, pool, company, slices.Concat(calls...))
		results := flight.Same[*addressee](len(calls), nil, err)
		for i, addresses := range calls {
			for _, address := range addresses {
				if results[i].Value == nil {
					results[i].Value = found[address]
				}
			}
		}
		return results
	}
	s.writable.Run = func(ctx context.Context, _ struct{}, calls []struct{}) []flight.Result[struct{}] {
		return flight.Same(len(calls), struct{}{}, s.ask(ctx, pool))
	}
	return s
}

// ask returns an error while requests cannot be stored. That they can counts for
// writableFor; that they cannot is asked anew each time.
func (s *shared) ask(ctx context.Context, pool *sqlx.DB) error {
	now := time.Now()
	if was := s.wasWritable.Load(); was != nil && now.Sub(*was) < writableFor {
		return nil
	}
	if err := writable(ctx, pool); err != nil {
		return err
	}
	s.wasWritable.Store(&now)
	return nil
}

// writable returns an error while requests cannot be stored.
func writable(ctx context.Context, pool *sqlx.DB) error {
	reason, err := pg.ReadOnly(ctx, pool)
	if err == nil && reason != "" {
		err = domain.Unavailable(errors.New(reason))
	}
	return err
}

const findAddressees = `
SELECT s.fixed_ip_address, s.physical_id, s.imsi, s.subscriber_id
FROM subscribers s
WHERE s.company_id = $1 AND s.fixed_ip_address = ANY($2)`

// addressee is a subscriber with a fixed address, with its names.
type addressee struct{ FixedIPAddress, PhysicalID, IMSI, SubscriberID string }

// addressees returns the subscribers of a company that have the fixed addresses, by those.
func addressees(ctx context.Context, pool *sqlx.DB, company domain.CompanyID, addresses []string) (map[string]*addressee, error) {
	rows, err := pg.SelectAll[addressee](ctx, pool, findAddressees, company, pq.StringArray(addresses))
	found := make(map[string]*addressee, len(rows))
	for _, row := range rows {
		found[row.FixedIPAddress] = row
	}
	return found, err
}
