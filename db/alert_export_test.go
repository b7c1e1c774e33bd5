package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Change is a usage.TotalChange.
type Change struct {
	ID            int64
	PeriodStart   time.Time
	Before, After int64
}

// UsageBooked evaluates alerts as the booking of usage does.
func UsageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, now time.Time, subscribers, groups []Change) error {
	changes := func(of []Change) []usage.TotalChange {
		return pg.Pluck(of, func(c Change) usage.TotalChange {
			return usage.TotalChange{ID: c.ID, PeriodStart: c.PeriodStart, Before: c.Before, After: c.After}
		})
	}
	return NewAlertEvaluator(func() time.Time { return now }).UsageBooked(ctx, tx, company, changes(subscribers), changes(groups))
}

// FireMoved evaluates alerts on the members of groups.
var FireMoved = fireMoved
