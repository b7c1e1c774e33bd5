package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// totalChange is how a batch of usage moved the total of one subscriber or
// group in one billing period, in bytes of both directions.
type totalChange struct {
	// id is a subscriber's key or a group's id.
	id            int64
	periodStart   time.Time
	before, after int64
}

// usageObserver is told what a batch of usage changed, in the transaction that
// books it and holds lockForUsage: what it writes stands or falls with the
// batch, and the intervals of batches tile: every total lies in exactly one
// [before, after).
type usageObserver interface {
	usageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, subscribers, groups []totalChange) error
	// totalsDerived is told that totals may have changed otherwise, under the
	// same lock.
	totalsDerived(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error
}

// tellDerived tells the observer after totals were derived from the ledger.
func (u *Usage) tellDerived(ctx context.Context, company domain.CompanyID) error {
	if u.observer == nil {
		return nil
	}
	return inTx(ctx, u.pool, func(tx *sqlx.Tx) error {
		locked, err := lockForUsage(ctx, tx, company)
		if err != nil {
			return err
		}
		return u.observer.totalsDerived(ctx, tx, locked)
	})
}
