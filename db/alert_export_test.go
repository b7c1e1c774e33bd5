package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Change is a totalChange.
type Change struct {
	ID            int64
	PeriodStart   time.Time
	Before, After int64
}

// UsageBooked evaluates alerts as the booking of usage does.
func UsageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, now time.Time, subscribers, groups []Change) error {
	changes := func(of []Change) []totalChange {
		return pluck(of, func(c Change) totalChange {
			return totalChange{id: c.ID, periodStart: c.PeriodStart, before: c.Before, after: c.After}
		})
	}
	return NewAlertEvaluator(func() time.Time { return now }).usageBooked(ctx, tx, company, changes(subscribers), changes(groups))
}

// FireMoved evaluates alerts on the members of groups.
var FireMoved = fireMoved
