package db

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// noteMoves takes the first day of usage that a membership changed, which for
// the first known group of a subscriber may be any day before it.
const noteMovedUsage = `
WITH moved AS (
  SELECT s.key, CASE WHEN $3 <= min(m.since) FILTER (WHERE m.group_id IS NOT NULL) THEN '-infinity'::timestamptz ELSE $3 END AS since
  FROM subscribers s
  JOIN group_memberships m ON m.company_id = $1 AND m.subscriber_key = s.key
  WHERE s.company_id = $1 AND s.physical_id = ANY($2)
  GROUP BY s.key
)
INSERT INTO usage_moves AS w (company_id, since)
SELECT $1, min(d.day)
FROM moved m
JOIN subscriber_days d ON d.company_id = $1 AND d.subscriber_key = m.key
WHERE d.day >= (SELECT min(since) FROM moved)::date AND d.day >= m.since::date
HAVING count(*) > 0
ON CONFLICT (company_id) DO UPDATE SET since = least(w.since, excluded.since)`

// noteMoves is for the transaction, under the lock of the company, that changed
// which group subscribers were in from a time on. Usage that they have from
// then on counts for other groups, which Settle sees to later.
func noteMoves(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string, since time.Time) error {
	if len(physicalIDs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, noteMovedUsage, company, pq.StringArray(physicalIDs), since)
	return err
}

// A mark that was set again while usage moved is another version of its row, and
// stays: it may be about days that were through by then.
const (
	movedUsage  = `SELECT company_id, since::timestamptz AS since, xmin::text AS version FROM usage_moves ORDER BY company_id`
	settledMove = `DELETE FROM usage_moves WHERE company_id = $1 AND xmin::text = $2`
)

// usageMove is a mark of noteMoves.
type usageMove struct {
	CompanyID domain.CompanyID
	Since     time.Time
	Version   string
}

// Settle books quarantined usage whose subscribers have appeared, and moves
// usage to the groups that the subscribers were in by now. Call it after
// imports, and now and then.
func (u *Usage) Settle(ctx context.Context) error {
	_, replayed := u.ReplayAll(ctx)
	moves, err := selectAll[usageMove](ctx, u.pool, movedUsage)
	moved := keyed(moves, func(m *usageMove) domain.CompanyID { return m.CompanyID })
	settled := domain.TryCompanies(ctx, slices.Sorted(maps.Keys(moved)), func(company domain.CompanyID) error {
		return u.regroup(ctx, moved[company])
	})
	return errors.Join(replayed, err, settled)
}

// regroup derives the totals of the days since a move anew. Usage that is not in
// the ledger any more stays with the groups that it was booked to.
func (u *Usage) regroup(ctx context.Context, move *usageMove) error {
	r := &rebuild{usage: u, company: move.CompanyID}
	ledger, to, err := u.span(ctx, move.CompanyID)
	if err != nil {
		return err
	}
	from := dayOf(move.Since)
	if from.Before(ledger) {
		from = ledger
	}
	if err := r.days(ctx, from, to); err != nil {
		return err
	}
	if err := r.periods(ctx, from, to); err != nil {
		return err
	}
	_, err = affected(ctx, u.pool, settledMove, move.CompanyID, move.Version)
	return err
}

const (
	forgetPeriods = `
WITH subscribers AS (
  DELETE FROM subscriber_periods WHERE company_id = $1
)
DELETE FROM group_periods WHERE company_id = $1`
	bookedSpan = `SELECT min(hour) AS first, max(hour) AS last FROM company_hours WHERE company_id = $1`
)

// rebookPeriods is for the transaction, under the lock of the company, that
// changed when its billing periods begin. What is in the ledger is booked to
// the second, older usage by the hour.
func rebookPeriods(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error {
	if _, err := tx.ExecContext(ctx, forgetPeriods, company.CompanyID); err != nil {
		return err
	}
	type row struct{ First, Last *time.Time }
	booked, err := getOne[row](ctx, tx, nil, bookedSpan, company.CompanyID)
	if err != nil || booked.First == nil {
		return err
	}
	ledger, err := lockLedger(ctx, tx)
	if err != nil {
		return err
	}
	r := &rebuild{company: company.CompanyID}
	for _, p := range periodsBetween(company.Billing(), *booked.First, booked.Last.Add(time.Hour)) {
		if err := r.correct(ctx, tx, periodDerivations, p.Start, p.End, ledger); err != nil {
			return err
		}
	}
	return nil
}
