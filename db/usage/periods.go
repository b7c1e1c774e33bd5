package usage

import (
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const addSubscriberPeriods = `
WITH added AS (
  INSERT INTO subscriber_periods AS p (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT $1, to_timestamp(n.start), n.id, n.originated, n.terminated, to_timestamp(n.last_seen)
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS n(start, id, originated, terminated, last_seen)
  ON CONFLICT (company_id, period_start, subscriber_key) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated,
    last_seen = greatest(p.last_seen, excluded.last_seen)
  RETURNING period_start, subscriber_key AS id, mobile_originated + mobile_terminated AS bytes
)` + totalsAfter

const addGroupPeriods = `
WITH added AS (
  INSERT INTO group_periods AS p (company_id, period_start, group_id, mobile_originated, mobile_terminated)
  SELECT $1, to_timestamp(n.start), n.id, n.originated, n.terminated
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS n(start, id, originated, terminated)
  ON CONFLICT (company_id, period_start, group_id) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated
  RETURNING period_start, group_id AS id, mobile_originated + mobile_terminated AS bytes
)` + totalsAfter

// totalsAfter returns a row for each period, which is seldom more than one,
// rather than for each total, which is several times dearer to read.
const totalsAfter = `
SELECT period_start, array_agg(id) AS ids, array_agg(bytes) AS bytes
FROM added
GROUP BY period_start`

// periods adds to the billing periods and passes the totals to the observer.
func (w totalsWriter) periods(observer Observer, company *domain.Company) error {
	subscribers, err := w.subscriberPeriods()
	if err != nil {
		return err
	}
	groups, err := w.groupPeriods()
	if err != nil || observer == nil {
		return err
	}
	return observer.UsageBooked(w.ctx, w.tx, company, subscribers, groups)
}

func (w totalsWriter) subscriberPeriods() ([]TotalChange, error) {
	totals := w.usageBooking.subscriberPeriods
	keys := ordered(totals, periodKey.compare)
	args := append(periodColumns(keys, func(k periodKey) *volume { return &totals[k].volume }),
		intArray(keys, func(k periodKey) int64 { return totals[k].lastSeen }))
	return w.changes(addSubscriberPeriods, args, func(k periodKey) int64 { return totals[k].bytes() })
}

func (w totalsWriter) groupPeriods() ([]TotalChange, error) {
	totals := w.usageBooking.groupPeriods
	if len(totals) == 0 {
		return nil, nil
	}
	keys := ordered(totals, periodKey.compare)
	args := periodColumns(keys, func(k periodKey) *volume { return totals[k] })
	return w.changes(addGroupPeriods, args, func(k periodKey) int64 { return totals[k].bytes() })
}

// periodColumns are start, id, originated and terminated.
func periodColumns(keys []periodKey, of func(periodKey) *volume) []any {
	return []any{
		intArray(keys, func(k periodKey) int64 { return k.start }),
		intArray(keys, func(k periodKey) int64 { return k.id }),
		intArray(keys, func(k periodKey) int64 { return of(k).originated }),
		intArray(keys, func(k periodKey) int64 { return of(k).terminated }),
	}
}

// changes runs a statement that adds to totals, and returns how they moved.
func (w totalsWriter) changes(sql string, args []any, added func(periodKey) int64) ([]TotalChange, error) {
	type row struct {
		PeriodStart time.Time
		IDs         pq.Int64Array `db:"ids"`
		Bytes       pq.Int64Array
	}
	periods, err := pg.SelectAll[row](w.ctx, w.tx, sql, append([]any{w.company}, args...)...)
	var changes []TotalChange
	for _, p := range periods {
		start := p.PeriodStart.UTC()
		for i, id := range p.IDs {
			before := p.Bytes[i] - added(periodKey{start.Unix(), id})
			changes = append(changes, TotalChange{ID: id, PeriodStart: start, Before: before, After: p.Bytes[i]})
		}
	}
	return changes, err
}
