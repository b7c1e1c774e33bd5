package usage

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// monthSettles is how long after its end a month is left alone: late usage would
// have it added up again and again.
const monthSettles = 72 * time.Hour

// addressMonths are what a company used in a month ($2) under each IP address.
var addressMonths = derivation{
	table: "ip_months", keys: []string{"month", "ip_address"}, values: append(volumes, "last_seen"), within: "t.month = $2::date",
	derived: `
SELECT $2::date AS month, ip_address, ` + volumeSums + `, max(last_seen) AS last_seen
FROM (
  SELECT d.ip_address, d.ip_originated AS mobile_originated, d.ip_terminated AS mobile_terminated, d.ip_last_seen AS last_seen
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day >= $2::date AND d.day < $2::date + interval '1 month' AND d.ip_address IS NOT NULL
  UNION ALL
  SELECT d.ip_address, d.mobile_originated, d.mobile_terminated, d.last_seen
  FROM ip_days d
  WHERE d.company_id = $1 AND d.day >= $2::date AND d.day < $2::date + interval '1 month'
) AS days
GROUP BY ip_address`,
}

// dueMonths are the months before $2 that have usage and are not added up.
const dueMonths = `
SELECT w.month
FROM (
  SELECT generate_series(date_trunc('month', min(h.hour) AT TIME ZONE 'UTC'), $2::date - interval '1 month', interval '1 month')::date AS month
  FROM company_hours h
  WHERE h.company_id = $1
) w
WHERE EXISTS (
    SELECT FROM company_hours h
    WHERE h.company_id = $1 AND h.hour >= w.month::timestamp AT TIME ZONE 'UTC' AND h.hour < (w.month + interval '1 month') AT TIME ZONE 'UTC')
  AND NOT EXISTS (SELECT FROM usage_months m WHERE m.company_id = $1 AND m.month = w.month AND m.is_ready)
ORDER BY w.month`

// SumMonths adds up the usage of months that are over, by IP address. Serve calls it
// now and then; calls that run at the same time do no harm.
func (u *Store) SumMonths(ctx context.Context) error {
	companies, err := pg.SelectValues[domain.CompanyID](ctx, u.pool, allCompanies)
	if err != nil {
		return err
	}
	return domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		months, err := selectMonths(ctx, u.pool, dueMonths, company, monthOf(u.now().Add(-monthSettles)))
		for i := 0; i < len(months) && err == nil; i++ {
			err = u.sumMonth(ctx, company, months[i])
		}
		return err
	})
}

const (
	beginMonth = `
INSERT INTO usage_months AS m (company_id, month, run, is_ready)
VALUES ($1, $2, $3, false)
ON CONFLICT (company_id, month) DO UPDATE SET run = excluded.run WHERE NOT m.is_ready`
	finishMonth = `UPDATE usage_months SET is_ready = true WHERE company_id = $1 AND month = $2 AND run = $3`
	removeMonth = `DELETE FROM usage_months WHERE company_id = $1 AND month = ANY($2::date[])`
)

// errReopened rolls back the sums of a month that usage was booked into meanwhile.
var errReopened = errors.New("usage was booked into the month")

// sumMonth adds up a month without a lock on the company. The month is entered under
// the lock first: a booking that commits later removes it again, and those that
// committed before are in what is read. A month that was removed, or entered by
// another call, is left to the next.
func (u *Store) sumMonth(ctx context.Context, company domain.CompanyID, month time.Time) error {
	run := uuid.New()
	err := companies.InTx(ctx, u.pool, company, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, beginMonth, company, month, run)
		return err
	})
	if err != nil {
		return err
	}
	err = pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error {
		if err := (&rebuild{usage: u, company: company}).correct(ctx, tx, []derivation{addressMonths}, month); err != nil {
			return err
		}
		finished, err := pg.Affected(ctx, tx, finishMonth, company, month, run)
		if err == nil && finished == 0 {
			err = errReopened
		}
		return err
	})
	if errors.Is(err, errReopened) {
		return nil
	}
	return err
}

// reopenMonths removes the months of the booking from those that are being added up or
// are, of which the last is until.
func (w totalsWriter) reopenMonths(until *time.Time) error {
	if until == nil {
		return nil
	}
	known := map[time.Time]bool{}
	var months []time.Time
	for day := range w.Days {
		month := monthOf(time.Unix(day.Day*hoursOfDay*secondsOfHour, 0))
		if !month.After(*until) && !known[month] {
			known[month] = true
			months = append(months, month)
		}
	}
	if len(months) == 0 {
		return nil
	}
	return w.exec(removeMonth, TimeArray(months))
}

const (
	readyMonths   = `SELECT m.month FROM usage_months m WHERE m.company_id = $1 AND m.month = ANY($2::date[]) AND m.is_ready`
	removeUnready = `DELETE FROM usage_months WHERE company_id = $1 AND month = $2 AND NOT is_ready`
)

// ready returns the months of which the usage by address stands ready, of those that
// lie wholly within days, and the other days.
func (a *Analytics) ready(ctx context.Context, q *usageQuery, days []time.Time) (months, rest []time.Time, err error) {
	var whole []time.Time
	for _, day := range days {
		end := day.AddDate(0, 1, 0)
		if day.Day() == 1 && !end.AddDate(0, 0, -1).After(days[len(days)-1]) {
			whole = append(whole, day)
		}
	}
	if len(whole) == 0 || !q.isWhole() {
		return nil, days, nil
	}
	found, err := selectMonths(ctx, a.pool, readyMonths, q.scope.Company, TimeArray(whole))
	if err != nil {
		return nil, nil, err
	}
	known := map[time.Time]bool{}
	for _, month := range found {
		months = append(months, month)
		known[month] = true
	}
	for _, day := range days {
		if !known[monthOf(day)] {
			rest = append(rest, day)
		}
	}
	return months, rest, nil
}

// months corrects the months that are added up, after their days. Those that are being
// added up may have read wrong days, and are removed.
func (r *rebuild) months(ctx context.Context, from, to time.Time) error {
	for month := monthOf(from); month.Before(to); month = month.AddDate(0, 1, 0) {
		err := pg.InTx(ctx, r.usage.pool, func(tx *sqlx.Tx) error {
			if _, err := companies.Lock(ctx, tx, r.company); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, removeUnready, r.company, month); err != nil {
				return err
			}
			ready, err := selectMonths(ctx, tx, readyMonths, r.company, TimeArray([]time.Time{month}))
			if err != nil || len(ready) == 0 {
				return err
			}
			return r.correct(ctx, tx, []derivation{addressMonths}, month)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func selectMonths(ctx context.Context, in sqlx.QueryerContext, sql string, args ...any) ([]time.Time, error) {
	type row struct{ Month time.Time }
	rows, err := pg.SelectAll[row](ctx, in, sql, args...)
	return pg.Pluck(rows, func(r *row) time.Time { return monthOf(r.Month) }), err
}

// monthOf is when the month (UTC) of a time began.
func monthOf(t time.Time) time.Time {
	year, month, _ := t.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
