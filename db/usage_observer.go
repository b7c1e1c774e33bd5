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
// books it: what it writes stands or falls with the batch. The rows of the
// totals are locked, so the intervals of concurrent batches tile: every total
// lies in exactly one [before, after).
type usageObserver interface {
	usageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, subscribers, groups []totalChange) error
}
