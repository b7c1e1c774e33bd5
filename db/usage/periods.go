package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
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

// The greatest time wins, whatever the order of records and reports. What is not later
// changes no row. Rows are locked in the order of their keys, so that two writers wait for
// each other and do not deadlock.
const (
	laterSeen = `
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at`
	// addSeen notes the ends of the records of addSubscriberPeriods.
	addSeen = `, seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.id, to_timestamp(max(n.last_seen))
  FROM companies own
  CROSS JOIN unnest($22::bigint[], $25::bigint[]) AS n(id, last_seen)
  WHERE own.company_id = $1
  GROUP BY own.company_id, n.id
  ORDER BY n.id` + laterSeen + `
)`
	// seenByReports notes the reports of the sessions of storeSessions.
	seenByReports = `, seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.subscriber_key, max(n.as_of)
  FROM companies own
  CROSS JOIN unnest($4::bigint[], $12::timestamptz[]) AS n(subscriber_key, as_of)
  WHERE own.company_id = $1 AND n.subscriber_key IS NOT NULL
  GROUP BY own.company_id, n.subscriber_key
  ORDER BY n.subscriber_key` + laterSeen + `
)`
	// seenInSessions notes the reports of the sessions of subscribers.
	seenInSessions = `
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT n.company_id, n.subscriber_key, max(n.as_of)
  FROM sessions n
  WHERE n.company_id = $1 AND n.subscriber_key = ANY($2::bigint[])
  GROUP BY n.company_id, n.subscriber_key
  ORDER BY n.subscriber_key` + laterSeen
)

// seen is when subscribers were seen last, from the periods and sessions. What is older
// than the ledger ($2) may follow from a session that went with its month, and stays.
var seen = derivation{
	table: "subscriber_seen", keys: []string{"subscriber_key"}, values: []string{"last_seen_at"}, within: "true",
	derived: `
SELECT subscriber_key, max(at) AS last_seen_at
FROM (
  SELECT p.subscriber_key, p.last_seen AS at FROM subscriber_periods p WHERE p.company_id = $1 AND p.last_seen > '-infinity'
  UNION ALL
  SELECT n.subscriber_key, n.as_of FROM sessions n WHERE n.company_id = $1 AND n.subscriber_key IS NOT NULL
  UNION ALL
  SELECT k.subscriber_key, k.last_seen_at FROM subscriber_seen k WHERE k.company_id = $1 AND k.last_seen_at < $2
) found
GROUP BY subscriber_key`,
}

func noteSeen(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, subscribers []int64) error {
	_, err := pg.Affected(ctx, tx, seenInSessions, company, pq.Int64Array(subscribers))
	return err
}

const currentUsage = `
SELECT p.subscriber_key, p.mobile_originated + p.mobile_terminated AS bytes
FROM subscriber_periods p
WHERE p.company_id = $1 AND p.period_start = $2 AND p.subscriber_key `

// CurrentOf implements domain.Usage.
func (u *Store) CurrentOf(ctx context.Context, scope domain.Scope, periodStart time.Time, subscribers []int64) (map[int64]int64, error) {
	type total struct{ SubscriberKey, Bytes int64 }
	is, key := pg.Is(subscribers)
	totals, err := pg.SelectAll[total](ctx, u.pool, currentUsage+is+"($3)", scope.Company, periodStart, key)
	if err != nil {
		return nil, err
	}
	current := make(map[int64]int64, len(totals))
	for _, t := range totals {
		current[t.SubscriberKey] = t.Bytes
	}
	return current, nil
}
