package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// TotalChange is how a batch of usage moved the total of one subscriber or
// group in one billing period, in bytes of both directions.
type TotalChange struct {
	// ID is a subscriber's key or a group's id.
	ID            int64
	PeriodStart   time.Time
	Before, After int64
}

// PeriodsOf returns the billing periods of the changes: seldom more than one.
func PeriodsOf(changes ...[]TotalChange) []time.Time {
	var starts []time.Time
	seen := map[int64]bool{}
	for _, of := range changes {
		for i := range of {
			if at := of[i].PeriodStart; !seen[at.Unix()] {
				seen[at.Unix()] = true
				starts = append(starts, at)
			}
		}
	}
	return starts
}

// Observer receives what a batch of usage changed, in the transaction that
// books it under companies.Lock: what it writes stands or falls with the
// batch, and the intervals of batches tile: every total lies in exactly one
// [before, after).
type Observer interface {
	// UsageBooked is called for companies with alerts or followers.
	UsageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, subscribers, groups []TotalChange) error
	// StateChanged is called with the keys of the subscribers that sessions have put
	// online or offline, or whose transfer began or ended.
	StateChanged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, subscribers []int64) error
	// TotalsDerived is called when totals may have changed otherwise, under the
	// same lock.
	TotalsDerived(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error
}

// notifyDerived calls the observer after totals were derived from the ledger.
func (u *Store) notifyDerived(ctx context.Context, company domain.CompanyID) error {
	if u.observer == nil {
		return nil
	}
	return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error {
		locked, err := companies.Lock(ctx, tx, company)
		if err != nil {
			return err
		}
		return u.observer.TotalsDerived(ctx, tx, locked)
	})
}
