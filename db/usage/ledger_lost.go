package usage

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

// A month that has totals of a company, but is not stored, was taken away by
// something else than Upkeep: totals and records are written together.
const (
	totalsFrom = `
SELECT min(h.hour) AS first, max(h.hour) AS last
FROM company_hours h
WHERE h.company_id = $1 AND h.hour >= $2`
	monthsWithTotals = `
SELECT m.month
FROM unnest($2::timestamptz[], $3::timestamptz[]) AS m(month, until)
WHERE EXISTS (SELECT FROM company_hours h WHERE h.company_id = $1 AND h.hour >= m.month AND h.hour < m.until)
ORDER BY m.month`
)

// lostMonths returns the months from the first one on that have totals of the
// company, but no records, in order of time.
func lostMonths(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, first time.Time) ([]time.Time, error) {
	stored, err := storedMonths(ctx, in)
	if err != nil {
		return nil, err
	}
	totals, err := pg.GetOne[hourSpan](ctx, in, nil, totalsFrom, company, first)
	if err != nil || totals.First == nil {
		return nil, err
	}
	missing := domain.MissingMonths(stored, *totals.First, *totals.Last)
	if len(missing) == 0 {
		return nil, nil
	}
	until := pg.Pluck(missing, func(m time.Time) time.Time { return m.AddDate(0, 1, 0) })
	return selectMonths(ctx, in, monthsWithTotals, company, TimeArray(missing), TimeArray(until))
}

// afterLost returns a time from when on no month of the company is lost: start, or
// the month after the last that is.
func afterLost(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, start time.Time) (time.Time, error) {
	lost, err := lostMonths(ctx, in, company, start)
	if err != nil || len(lost) == 0 {
		return start, err
	}
	return lost[len(lost)-1].AddDate(0, 1, 0), nil
}

// noteAllLost moves the first month behind the months that were taken away by something
// else than Upkeep, and returns those. None of them is filled or derived again.
func (l *Ledger) noteAllLost(ctx context.Context, by *domain.Actor) ([]time.Time, error) {
	lost, failed := l.lostMonths(ctx)
	if len(lost) == 0 {
		return nil, failed
	}
	noted := false
	err := l.alone(ctx, func(tx *sqlx.Tx) (err error) {
		noted, err = noteLost(ctx, tx, by, lost)
		return err
	})
	if err != nil || !noted {
		lost = nil
	}
	return lost, errors.Join(failed, err)
}

// lostMonths returns the lost months of all companies. A company that fails leaves out its
// own.
func (l *Ledger) lostMonths(ctx context.Context) ([]time.Time, error) {
	ledger, err := ReadLedger(ctx, l.pool)
	if err != nil {
		return nil, err
	}
	all, err := pg.SelectValues[domain.CompanyID](ctx, l.pool, allCompanies)
	if err != nil {
		return nil, err
	}
	var lost []time.Time
	err = domain.TryCompanies(ctx, all, func(company domain.CompanyID) error {
		months, err := lostMonths(ctx, l.pool, company, ledger.FirstMonth)
		lost = append(lost, months...)
		return err
	})
	return domain.InOrder(lost), err
}

// noteLost reports whether the months were lost still when it had the ledger alone.
func noteLost(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, lost []time.Time) (bool, error) {
	ledger, err := ReadLedger(ctx, tx)
	if err != nil {
		return false, err
	}
	begins := lost[len(lost)-1].AddDate(0, 1, 0)
	if !ledger.FirstMonth.Before(begins) {
		return false, nil
	}
	if err := execute(ctx, tx, beginLater, begins); err != nil {
		return false, err
	}
	names := pg.Pluck(lost[max(0, len(lost)-domain.MaxAuditNames):], func(m time.Time) string { return m.Format(domain.MonthLayout) })
	return true, audit.Record(ctx, tx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: domain.AuditUsageLost, SubjectType: "Usage", SubjectID: names[len(names)-1],
		Changes: []domain.AuditChange{domain.Was("months", strings.Join(names, " ")), domain.Became("first month", begins.Format(domain.MonthLayout))},
	})
}

// isLost reports whether a company has totals of a month that is not stored.
func isLost(ctx context.Context, in sqlx.QueryerContext, month time.Time) (bool, error) {
	all, err := pg.SelectValues[domain.CompanyID](ctx, in, allCompanies)
	if err != nil {
		return false, err
	}
	for _, company := range all {
		has, err := selectMonths(ctx, in, monthsWithTotals, company, TimeArray([]time.Time{month}), TimeArray([]time.Time{month.AddDate(0, 1, 0)}))
		if err != nil || len(has) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Inspection is what was wrong with the months.
type Inspection struct {
	// Lost are the months that were taken away by something else than Upkeep, which the
	// first month is behind now.
	Lost []time.Time
	// Registered is how many identities of stored records were put back.
	Registered int
}

// Inspect sees to it that months are fenced, that the first month is behind those that
// were lost, and that records have their identities. Call it before usage is recorded,
// and every hour, by any number of instances.
func (l *Ledger) Inspect(ctx context.Context, by *domain.Actor) (Inspection, error) {
	var found Inspection
	fenced := l.fenceMonths(ctx)
	var noted, registered error
	found.Lost, noted = l.noteAllLost(ctx, by)
	found.Registered, registered = l.registerAgain(ctx)
	return found, errors.Join(fenced, noted, registered)
}
