package usage

import (
	"context"
	"strings"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// minCandidates is how many subscribers of each billing period are counted
	// first, at least; candidatesPerPlace per place that is requested.
	minCandidates      = 20
	candidatesPerPlace = 2
	// maxNear is for how many subscribers days are looked up one by one, which is
	// dearer than to read the days of all when these are many.
	maxNear = 10_000
	// minByPeriods is the shortest span that billing periods say something about.
	minByPeriods = 7 * 24 * time.Hour
)

// Top implements domain.Analytics.
func (a *Analytics) Top(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, first int) (map[domain.Subject][]domain.SubscriberUsage, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	if q.isWhole() && span.End.Sub(span.Start) >= minByPeriods {
		top, err := a.topOfCompany(ctx, q, first)
		if err != nil || len(top) > 0 {
			return map[domain.Subject][]domain.SubscriberUsage{of[0]: top}, err
		}
		q = newUsageQuery(scope, of, span)
	}
	billing, err := a.billing(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.top(ctx, q, billing, first)
}

const topSubscribers = `
SELECT u.subject, u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM (
  SELECT u.*, row_number() OVER (PARTITION BY u.subject ORDER BY u.mobile_originated + u.mobile_terminated DESC, u.subscriber_key) AS place
  FROM ({usage}) AS u{whereVisible}
) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
WHERE place <= {first}
ORDER BY subject, place`

// whereVisible joins the subscriber of usage u where a scope does not show all of them. The
// subscriber is always there: one that has usage is not removed.
const whereVisible = `
  JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
  WHERE {visible}`

func (q *usageQuery) whereVisible() string {
	if !q.scope.Restricted() {
		return ""
	}
	return q.fill(whereVisible)
}

// top counts the usage of all members of the subjects.
func (a *Analytics) top(ctx context.Context, q *usageQuery, billing *domain.Billing, first int) (map[domain.Subject][]domain.SubscriberUsage, error) {
	type row struct {
		Subject int
		domain.SubscriberUsage
	}
	sql := q.fill(topSubscribers, "usage", q.bySubscriber(billing), "whereVisible", q.whereVisible(), "first", q.arg(first, "bigint"))
	rows, err := pg.SelectAll[row](ctx, a.pool, sql, q.args...)
	top := make(map[domain.Subject][]domain.SubscriberUsage, len(q.of))
	for _, r := range rows {
		r.LastSeen = q.span.Within(r.LastSeen)
		top[q.of[r.Subject-1]] = append(top[q.of[r.Subject-1]], r.SubscriberUsage)
	}
	return top, err
}

// topOfCompany returns the subscribers of the company with the most usage, nobody
// where that cannot be decided by counting few.
func (a *Analytics) topOfCompany(ctx context.Context, q *usageQuery, first int) ([]domain.SubscriberUsage, error) {
	billing, err := a.billingOf(ctx, q)
	if err != nil {
		return nil, err
	}
	var sql string
	if period := billing.PeriodAt(q.span.Start); period.Start.Equal(q.span.Start) && period.End.Equal(q.span.End) {
		sql = q.fill(topOfPeriod, "first", q.arg(first, "bigint"))
	} else {
		sql = q.topByPeriods(billing, first)
	}
	rows, err := pg.SelectAll[domain.SubscriberUsage](ctx, a.pool, sql, q.args...)
	return pg.Pluck(rows, func(row *domain.SubscriberUsage) domain.SubscriberUsage {
		row.LastSeen = q.span.Within(row.LastSeen)
		return *row
	}), err
}

// topOfPeriod reads the first of a billing period in the order of the index, and
// sorts only what is of the same magnitude.
const topOfPeriod = `
SELECT p.subscriber_key, s.subscriber_id, p.last_seen, p.mobile_originated, p.mobile_terminated
FROM (
  SELECT p.subscriber_key, p.last_seen, p.mobile_originated, p.mobile_terminated FROM subscriber_periods p
  WHERE p.company_id = {company} AND p.period_start = {start} AND p.mobile_originated + p.mobile_terminated > 0
  ORDER BY p.magnitude DESC, p.mobile_originated + p.mobile_terminated DESC, p.subscriber_key
  LIMIT {first}
) AS p
JOIN subscribers s ON s.company_id = {company} AND s.key = p.subscriber_key
ORDER BY p.mobile_originated + p.mobile_terminated DESC, p.subscriber_key`

// topByThreshold is a threshold algorithm over the billing periods that the span
// touches: nobody has more in the span than in these, and they are indexed by
// magnitude. The candidates of the periods are counted in the span; the least of
// the best of them is the cutoff. Then all are counted who may reach it. It
// returns no row when those are too many.
const topByThreshold = `
WITH candidate AS (
  SELECT DISTINCT c.subscriber_key
  FROM unnest({periods}) AS w(start)
  CROSS JOIN LATERAL (
    SELECT p.subscriber_key FROM subscriber_periods p
    WHERE p.company_id = {company} AND p.period_start = w.start
    ORDER BY p.magnitude DESC, p.mobile_originated + p.mobile_terminated DESC
    LIMIT {candidates}
  ) AS c
), cutoff AS (
  SELECT CASE WHEN count(*) = {first} THEN greatest(min(bytes), 1) ELSE 1 END::bigint AS bytes
  FROM (
    SELECT u.bytes FROM candidate k CROSS JOIN LATERAL ({usage}) AS u ORDER BY u.bytes DESC LIMIT {first}
  ) AS best
), near AS (
  SELECT k.subscriber_key
  FROM cutoff c
  CROSS JOIN LATERAL (
    SELECT DISTINCT p.subscriber_key
    FROM unnest({periods}) AS w(start)
    JOIN subscriber_periods p ON p.company_id = {company} AND p.period_start = w.start
      AND p.magnitude >= usage_magnitude(c.bytes / cardinality({periods})) AND p.mobile_originated + p.mobile_terminated >= c.bytes / cardinality({periods})
  ) AS k
  CROSS JOIN LATERAL (
    SELECT sum(p.mobile_originated + p.mobile_terminated) AS bytes FROM subscriber_periods p
    WHERE p.company_id = {company} AND p.period_start = ANY({periods}) AND p.subscriber_key = k.subscriber_key
  ) AS most
  WHERE most.bytes >= c.bytes
  LIMIT {most}
), top AS (
  SELECT k.subscriber_key, u.bytes
  FROM near k CROSS JOIN LATERAL ({usage}) AS u
  WHERE u.bytes > 0 AND (SELECT count(*) FROM near) < {most}
  ORDER BY u.bytes DESC, k.subscriber_key
  LIMIT {first}
)
SELECT k.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM top k
JOIN subscribers s ON s.company_id = {company} AND s.key = k.subscriber_key
CROSS JOIN LATERAL ({detail}) AS u
ORDER BY k.bytes DESC, k.subscriber_key`

// The usage of one subscriber k in the span: the sum for all who are counted, and
// what is returned of the few at the top.
const (
	bytesInSpan = `
    SELECT coalesce(sum(v.mobile_originated + v.mobile_terminated), 0) AS bytes FROM ({volumes}) AS v`
	detailInSpan = `
    SELECT max(v.last_seen) AS last_seen, sum(v.mobile_originated)::bigint AS mobile_originated, sum(v.mobile_terminated)::bigint AS mobile_terminated
    FROM ({volumes}) AS v`
	wholeDaysOfOne = `
      SELECT d.last_seen, d.mobile_originated, d.mobile_terminated FROM subscriber_days d
      WHERE d.company_id = {company} AND d.day = ANY({days}) AND d.subscriber_key = k.subscriber_key`
	otherDaysOfOne = `
      SELECT to_timestamp(c.last_seen) AS last_seen, c.mobile_originated, c.mobile_terminated
      FROM subscriber_days d CROSS JOIN LATERAL usage_cells(d.cells) AS c
      WHERE d.company_id = {company} AND d.day = ANY({days}) AND d.subscriber_key = k.subscriber_key
        AND 24 * (d.day - DATE 'epoch') + c.hour >= {from} AND 24 * (d.day - DATE 'epoch') + c.hour < {until}`
	periodsWithout = `
      SELECT p.last_seen, p.mobile_originated, p.mobile_terminated FROM subscriber_periods p
      WHERE p.company_id = {company} AND p.period_start = ANY({periods}) AND p.subscriber_key = k.subscriber_key
      UNION ALL
      SELECT d.last_seen, -d.mobile_originated, -d.mobile_terminated FROM subscriber_days d
      WHERE d.company_id = {company} AND d.day = ANY({days}) AND d.subscriber_key = k.subscriber_key`
)

// topChanges counts the usage of all members in both spans: whole billing periods stand
// ready, of others a row is read for each subscriber and day. Nobody can be left out by what
// the periods have, as in topByThreshold: many have used as much as the one who rose most.
const topChanges = `
SELECT subject, subscriber_key, more, less
FROM (
  SELECT u.*, row_number() OVER (PARTITION BY u.subject ORDER BY u.more - u.less DESC, u.subscriber_key) AS place
  FROM (
    SELECT v.subject, v.subscriber_key, sum(v.more)::bigint AS more, sum(v.less)::bigint AS less
    FROM (
      SELECT subject, subscriber_key, mobile_originated + mobile_terminated AS more, 0::bigint AS less FROM ({more}) AS m
      UNION ALL
      SELECT subject, subscriber_key, 0::bigint, mobile_originated + mobile_terminated FROM ({less}) AS l
    ) AS v
    GROUP BY v.subject, v.subscriber_key
    HAVING sum(v.more) > sum(v.less)
  ) AS u{whereVisible}
) AS u
WHERE place <= {first}
ORDER BY subject, place`

// Changes implements domain.Analytics. Who fell most rose most from the span to the one
// before: the statements know rises alone.
func (a *Analytics) Changes(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span, before domain.Range, order domain.ChangeOrder, first int,
) (map[domain.Subject][]domain.UsageChange, error) {
	if len(of) == 0 {
		return nil, nil
	}
	more, less := span, before
	if order == domain.MostFallen {
		more, less = before, span
	}
	type row struct {
		Subject       int
		SubscriberKey int64
		More, Less    int64
	}
	q := newUsageQuery(scope, of, more)
	billing, err := a.billing(ctx, q)
	if err != nil {
		return nil, err
	}
	sql := q.fill(topChanges, "more", q.bySubscriber(billing), "less", q.during(less).bySubscriber(billing), "whereVisible", q.whereVisible(),
		"first", q.arg(first, "bigint"))
	changes := make(map[domain.Subject][]domain.UsageChange, len(of))
	err = pg.EachRow(ctx, a.pool, sql, q.args, func(r row) error {
		change := domain.UsageChange{SubscriberKey: r.SubscriberKey, Total: r.More, Before: r.Less}
		if order == domain.MostFallen {
			change.Total, change.Before = r.Less, r.More
		}
		changes[of[r.Subject-1]] = append(changes[of[r.Subject-1]], change)
		return nil
	})
	return changes, err
}

func (q *usageQuery) topByPeriods(billing domain.Billing, first int) string {
	starts, ends := PeriodsOver(billing, q.span)
	periods := q.arg(TimeArray(starts), "timestamptz[]")
	volumes := q.volumesOfOne()
	counted := volumes
	whole, rest := splitDays(q.span)
	if outside, ok := daysOutside(starts, ends, q.span); ok && len(rest) == 0 && len(outside) < len(whole) {
		counted = q.fill(periodsWithout, "periods", periods, "days", q.arg(TimeArray(outside), "date[]"))
	}
	return q.fill(topByThreshold,
		"periods", periods, "usage", pg.Fill(bytesInSpan, "volumes", counted), "detail", pg.Fill(detailInSpan, "volumes", volumes),
		"candidates", q.arg(max(minCandidates, candidatesPerPlace*first), "bigint"), "first", q.arg(first, "bigint"),
		"most", q.arg(maxNear+1, "bigint"))
}

// volumesOfOne selects last_seen and volumes of the subscriber k in the span.
func (q *usageQuery) volumesOfOne() string {
	whole, rest := splitDays(q.span)
	var parts []string
	if len(whole) > 0 {
		parts = append(parts, q.fill(wholeDaysOfOne, "days", q.arg(TimeArray(whole), "date[]")))
	}
	if len(rest) > 0 {
		parts = append(parts, q.fill(otherDaysOfOne, "days", q.arg(TimeArray(rest), "date[]"), "from", q.hourFrom(q.span.Start), "until", q.hourFrom(q.span.End)))
	}
	return strings.Join(parts, "\n      UNION ALL")
}

// daysOutside returns the days of billing periods that lie outside of a span, and
// false where not all of the periods begin and end with UTC days.
func daysOutside(starts, ends []time.Time, span domain.Range) (days []time.Time, ok bool) {
	for i, start := range starts {
		if !dayOf(start).Equal(start) || !dayOf(ends[i]).Equal(ends[i]) {
			return nil, false
		}
		for _, day := range daysOf(domain.Range{Start: start, End: ends[i]}) {
			if day.Before(span.Start) || !day.Before(span.End) {
				days = append(days, day)
			}
		}
	}
	return days, true
}
