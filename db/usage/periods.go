package usage

import (
	"time"

	"github.com/lib/pq"

	"simgraph/domain"
)

const addSubscriberPeriods = `, subscriber_totals AS (
  INSERT INTO subscriber_periods AS p (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated, to_timestamp(n.last_seen)
  FROM companies own
  CROSS JOIN unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[]) AS n(start, id, originated, terminated, last_seen)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, subscriber_key) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated,
    last_seen = greatest(p.last_seen, excluded.last_seen)
  RETURNING period_start, subscriber_key AS id, mobile_originated + mobile_terminated AS bytes
)`

// addGroups adds to the hours and billing periods of groups.
const addGroups = `, hours_of_groups AS (
  INSERT INTO group_hours AS h (company_id, group_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.group_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($26::bigint[], $27::timestamptz[], $28::text[], $29::bigint[], $30::bigint[]) AS n(group_id, hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, group_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), group_totals AS (
  INSERT INTO group_periods AS p (company_id, period_start, group_id, mobile_originated, mobile_terminated)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($31::bigint[], $32::bigint[], $33::bigint[], $34::bigint[]) AS n(start, id, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, group_id) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated
  RETURNING period_start, group_id AS id, mobile_originated + mobile_terminated AS bytes
)`

// subscriberColumns are start, id, originated, terminated and last_seen.
func (w totalsWriter) subscriberColumns() []any {
	keys := ordered(w.SubscriberPeriods, comparePeriods)
	columns := volumeColumns(keys, func(k domain.PeriodKey) *domain.Volume { return &w.SubscriberPeriods[k].Volume })
	return append(columns, intArray(keys, func(k domain.PeriodKey) int64 { return w.SubscriberPeriods[k].LastSeen }))
}

// groupColumns are start, id, originated and terminated.
func (w totalsWriter) groupColumns() []any {
	return volumeColumns(ordered(w.GroupPeriods, comparePeriods), func(k domain.PeriodKey) *domain.Volume { return w.GroupPeriods[k] })
}

func volumeColumns(keys []domain.PeriodKey, of func(domain.PeriodKey) *domain.Volume) []any {
	return []any{
		intArray(keys, func(k domain.PeriodKey) int64 { return k.Start }),
		intArray(keys, func(k domain.PeriodKey) int64 { return k.ID }),
		intArray(keys, func(k domain.PeriodKey) int64 { return of(k).MobileOriginated }),
		intArray(keys, func(k domain.PeriodKey) int64 { return of(k).MobileTerminated }),
	}
}

// totalsAfter returns a row for each period and day, which are seldom more than one,
// rather than for each total, which is several times dearer to read. The company
// keeps a distributed database on the node of the totals.
const totalsAfter = `
SELECT 'subscribers' AS total, period_start AS began, array_agg(id) AS ids, array_agg(bytes) AS numbers FROM subscriber_totals GROUP BY period_start
UNION ALL
SELECT 'days', day::timestamp AT TIME ZONE 'UTC', array_agg(subscriber_key), array_agg(group_id)
FROM companies own
CROSS JOIN days
WHERE own.company_id = $1 AND ip_differs
GROUP BY day`

const groupTotalsAfter = `
UNION ALL
SELECT 'groups', period_start, array_agg(id), array_agg(bytes) FROM group_totals GROUP BY period_start`

// writtenTotals is a row of totalsAfter: ids of subscribers or groups with their
// bytes in a billing period, or of subscribers with their groups on a day whose
// address is another than that of the usage.
type writtenTotals struct {
	Total   string
	Began   time.Time
	IDs     pq.Int64Array `db:"ids"`
	Numbers pq.Int64Array
}

// changes appends how the totals moved.
func (r *writtenTotals) changes(to []TotalChange, added func(domain.PeriodKey) int64) []TotalChange {
	start := r.Began.UTC()
	for i, id := range r.IDs {
		before := r.Numbers[i] - added(domain.PeriodKey{Start: start.Unix(), ID: id})
		to = append(to, TotalChange{ID: id, PeriodStart: start, Before: before, After: r.Numbers[i]})
	}
	return to
}
