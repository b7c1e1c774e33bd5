package db

import (
	"time"

	"github.com/lib/pq"

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

// totalsAfter returns three arrays rather than a row for each total, which is
// several times dearer to read.
const totalsAfter = `
SELECT coalesce(array_agg(date_part('epoch', period_start)::bigint), '{}'), coalesce(array_agg(id), '{}'), coalesce(array_agg(bytes), '{}')
FROM added`

// periods adds to the billing periods and tells the observer of the totals.
func (w totalsWriter) periods(observer usageObserver, company *domain.Company) error {
	subscribers, err := w.subscriberPeriods()
	if err != nil {
		return err
	}
	groups, err := w.groupPeriods()
	if err != nil || observer == nil {
		return err
	}
	return observer.usageBooked(w.ctx, w.tx, company, subscribers, groups)
}

func (w totalsWriter) subscriberPeriods() ([]totalChange, error) {
	totals := w.usageBooking.subscriberPeriods
	keys := ordered(totals, periodKey.compare)
	args := append(periodColumns(keys, func(k periodKey) *volume { return &totals[k].volume }),
		intArray(keys, func(k periodKey) int64 { return totals[k].lastSeen }))
	return w.changes(addSubscriberPeriods, args, func(k periodKey) int64 { return totals[k].bytes() })
}

func (w totalsWriter) groupPeriods() ([]totalChange, error) {
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
func (w totalsWriter) changes(sql string, args []any, added func(periodKey) int64) ([]totalChange, error) {
	var starts, ids, bytes pq.Int64Array
	row := w.tx.QueryRowxContext(w.ctx, sql, append([]any{w.company}, args...)...)
	if err := row.Scan(&starts, &ids, &bytes); err != nil {
		return nil, err
	}
	changes := make([]totalChange, len(ids))
	for i, id := range ids {
		before := bytes[i] - added(periodKey{starts[i], id})
		changes[i] = totalChange{id: id, periodStart: time.Unix(starts[i], 0).UTC(), before: before, after: bytes[i]}
	}
	return changes, nil
}
