package usage

import (
	"context"
	"strings"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
)

// steps are the intervals of a series, by their starts. A statement numbers them from 1.
type steps []time.Time

// stepOf is the number of the step that holds the hour that begins at a time.
func (q *usageQuery) stepOf(hour string, s steps) string {
	return "width_bucket(" + hour + ", " + q.once("steps", "timestamptz[]", TimeArray(s)) + ")"
}

// stepOfHour is stepOf for an hour since the Unix epoch.
func (q *usageQuery) stepOfHour(hour string, s steps) string {
	return "width_bucket(" + hour + ", " + q.once("hours of steps", "bigint[]", intArray(s, hourOnOrAfter)) + ")"
}

// split returns the UTC days of the span that lie wholly in one step, and the others.
func (s steps) split(span domain.Range) (whole, rest []time.Time) {
	inSpan, rest := splitDays(span)
	step := 0
	for _, day := range inSpan {
		for step+1 < len(s) && !day.Before(s[step+1]) {
			step++
		}
		if step+1 < len(s) && day.AddDate(0, 0, 1).After(s[step+1]) {
			rest = append(rest, day)
		} else {
			whole = append(whole, day)
		}
	}
	return whole, rest
}

// SeriesBy implements domain.Analytics.
func (a *Analytics) SeriesBy(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, by domain.Interval, dimension domain.Dimension, first int,
) (map[domain.Subject][]domain.UsageSeries, error) {
	starts := by.StartsIn(span)
	switch {
	case len(of) == 0 || len(starts) == 0:
		return nil, nil
	case !dimension.HasHours():
		return nil, domain.Invalid("by", "usage by IP address is known by the day only: ask for its breakdown")
	case len(of)*(first+1)*len(starts) > domain.MaxSeriesPoints:
		return nil, domain.TooManyPoints(len(of) * (first + 1))
	}
	if err := dimension.CheckSpan(span); err != nil {
		return nil, err
	}
	q := newUsageQuery(scope, of, span)
	var sql string
	if dimension == domain.ByGroup && q.isWhole() {
		billing, err := a.billingOf(ctx, q)
		if err != nil {
			return nil, err
		}
		sql = q.seriesOfGroups(starts, billing, first)
	} else {
		sql = pg.Fill(seriesByValue, "parts", q.partsByStep(starts, dimension), "first", q.arg(first, "bigint"))
	}
	type row struct {
		Subject, Place, Step int
		Value, Label         *string
		domain.UsageTotals
	}
	series := make(map[domain.Subject][]domain.UsageSeries, len(of))
	place := 0
	err := pg.EachRow(ctx, a.pool, sql, q.args, func(r row) error {
		all := series[of[r.Subject-1]]
		if len(all) == 0 || r.Place != place {
			all = append(all, domain.UsageSeries{Value: r.Value, Label: r.Label, IsOthers: r.Place > first})
		}
		place = r.Place
		one := &all[len(all)-1]
		one.MobileOriginated += r.MobileOriginated
		one.MobileTerminated += r.MobileTerminated
		one.Sessions += r.Sessions
		one.Points = append(one.Points, domain.UsagePoint{Start: starts[r.Step-1], UsageTotals: r.UsageTotals})
		series[of[r.Subject-1]] = all
		return nil
	})
	return series, err
}

// partsByStep selects subject, value, label, step, volumes and sessions.
func (q *usageQuery) partsByStep(s steps, by domain.Dimension) string {
	switch by {
	case domain.ByProtocol:
		return `
SELECT subject, protocol AS value, protocol AS label, ` + q.stepOf("hour", s) + ` AS step, 0::bigint AS sessions, mobile_originated, mobile_terminated
FROM (` + q.protocols() + `) AS u`
	case domain.BySource, domain.ByCountry:
		return q.recorded(by, q.stepOf("date_trunc('hour', r.started_at, 'UTC')", s)+" AS step, 0::bigint AS sessions")
	}
	return q.attributed(by, q.daysByStep(s), "u.step, u.sessions", q.scope.Masked)
}

// daysByStep selects subject, subscriber_key, group_id, step, volumes and sessions: a row for
// each day that lies in one step, and one for each hour of other days.
func (q *usageQuery) daysByStep(s steps) string {
	whole, rest := s.split(q.span)
	var parts []string
	if len(whole) > 0 || len(rest) == 0 {
		from, where := q.days("subscriber_days", whole)
		parts = append(parts, `
SELECT m.subject, d.subscriber_key, d.group_id, `+q.stepOfHour("24 * (d.day - DATE 'epoch')::bigint", s)+` AS step,
  d.mobile_originated, d.mobile_terminated, d.sessions`+from+`
WHERE `+where)
	}
	if len(rest) > 0 {
		parts = append(parts, `
SELECT m.subject, d.subscriber_key, d.group_id, `+q.stepOfHour("24 * (d.day - DATE 'epoch')::bigint + c.hour", s)+` AS step,
  c.mobile_originated, c.mobile_terminated, c.sessions`+q.cells(rest, ""))
	}
	return strings.Join(parts, "\nUNION ALL")
}

// seriesByValue adds up by step, and puts what is not among the first into one place.
const seriesByValue = `
WITH part AS (
  SELECT subject, value, max(label) AS label, step, ` + totalSums + `
  FROM ({parts}) AS p
  GROUP BY subject, value, step
), counted AS (
  SELECT *, sum(mobile_originated + mobile_terminated) OVER (PARTITION BY subject, value) AS bytes
  FROM part
  WHERE mobile_originated > 0 OR mobile_terminated > 0 OR sessions > 0
), ranked AS (
  SELECT *, least(dense_rank() OVER (PARTITION BY subject ORDER BY bytes DESC, value NULLS LAST), {first} + 1) AS place
  FROM counted
)
SELECT subject, place, CASE WHEN place <= {first} THEN max(value) END AS value, CASE WHEN place <= {first} THEN max(coalesce(label, value)) END AS label,
  step, ` + totalSums + `
FROM ranked
GROUP BY subject, place, step
ORDER BY subject, place, step`

const totalSums = volumeSums + `, sum(sessions)::bigint AS sessions`

// seriesOfGroups is seriesByValue of a company by group, from the hours of those groups alone
// that are shown: the rest is what they leave of the company. Which they are is decided by the
// sums of billing periods as far as those lie in the span. Where usage outside of groups
// is shown by itself, all groups are read.
func (q *usageQuery) seriesOfGroups(s steps, billing domain.Billing, first int) string {
	periods, rest := periodsWithin(billing, q.span)
	from, until := make([]time.Time, len(rest)), make([]time.Time, len(rest))
	for i, r := range rest {
		from[i], until[i] = r.Start, r.End
	}
	return q.fill(seriesOfGroups, "whole", q.hours(domain.AllMeasures), "first", q.arg(first, "bigint"), "step", q.stepOf("hour", s),
		"periods", q.arg(TimeArray(periods), "timestamptz[]"), "from", q.arg(TimeArray(from), "timestamptz[]"), "until", q.arg(TimeArray(until), "timestamptz[]"))
}

// OFFSET 0 has the hours of each group looked up by themselves, however many PostgreSQL expects, and
// wanted has only those of the groups that are shown looked up.
const seriesOfGroups = `
WITH whole AS MATERIALIZED (
  SELECT {step} AS step, ` + totalSums + `
  FROM ({whole}) AS u
  GROUP BY step
), known AS MATERIALIZED (
  SELECT g.group_id, g.name, v.bytes
  FROM groups g
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(v.bytes), 0)::bigint AS bytes
    FROM (
      SELECT p.mobile_originated + p.mobile_terminated AS bytes FROM group_periods p
      WHERE p.company_id = {company} AND p.period_start = ANY({periods}) AND p.group_id = g.group_id
      UNION ALL
      SELECT h.bytes
      FROM unnest({from}, {until}) AS w(since, until)
      CROSS JOIN LATERAL (
        SELECT sum(h.mobile_originated + h.mobile_terminated)::bigint AS bytes FROM group_hours h
        WHERE h.company_id = {company} AND h.group_id = g.group_id AND h.hour >= w.since AND h.hour < w.until
      ) AS h
    ) AS v
  ) AS v
  WHERE g.company_id = {company}
), ranked AS MATERIALIZED (
  SELECT r.*, row_number() OVER (ORDER BY r.bytes DESC, r.group_id::text COLLATE "C" NULLS LAST) AS place
  FROM (
    SELECT group_id, name, bytes FROM known
    UNION ALL
    SELECT NULL, NULL, coalesce((SELECT sum(mobile_originated + mobile_terminated) FROM whole), 0) - coalesce((SELECT sum(bytes) FROM known), 0)
  ) AS r
), outside AS MATERIALIZED (
  SELECT least(place, {first} + 1) AS place FROM ranked WHERE group_id IS NULL
), wanted AS MATERIALIZED (
  SELECT r.group_id, r.name, least(r.place, {first} + 1) AS place
  FROM ranked r
  CROSS JOIN outside o
  WHERE r.group_id IS NOT NULL AND (r.place <= {first} OR o.place <= {first})
), inside AS MATERIALIZED (
  SELECT r.group_id, r.name, r.place, h.step, h.mobile_originated, h.mobile_terminated, h.sessions
  FROM wanted r
  CROSS JOIN LATERAL (
    SELECT {step} AS step, ` + totalSums + `
    FROM (
      SELECT h.hour, h.mobile_originated, h.mobile_terminated, 0::bigint AS sessions FROM group_hours h
      WHERE h.company_id = {company} AND h.group_id = r.group_id AND h.hour >= {start} AND h.hour < {end}
      UNION ALL
      SELECT h.hour, 0::bigint, 0::bigint, h.sessions FROM group_sessions h
      WHERE h.company_id = {company} AND h.group_id = r.group_id AND h.hour >= {start} AND h.hour < {end}
      OFFSET 0
    ) AS h
    GROUP BY step
  ) AS h
)
SELECT 1::bigint AS subject, place, CASE WHEN place <= {first} THEN max(group_id)::text END AS value, CASE WHEN place <= {first} THEN max(name) END AS label,
  step, ` + totalSums + `
FROM (
  SELECT place, group_id, name, step, mobile_originated, mobile_terminated, sessions FROM inside
  UNION ALL
  SELECT o.place, NULL, NULL, w.step, w.mobile_originated - coalesce(i.mobile_originated, 0), w.mobile_terminated - coalesce(i.mobile_terminated, 0),
    w.sessions - coalesce(i.sessions, 0)
  FROM whole w
  CROSS JOIN outside o
  LEFT JOIN (SELECT step, ` + totalSums + ` FROM inside GROUP BY step) AS i ON i.step = w.step
) AS u
GROUP BY place, step
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0 OR sum(sessions) > 0
ORDER BY place, step`

// periodsWithin returns the starts of the billing periods that lie in the span and are of
// whole hours, and what they leave of the span.
func periodsWithin(billing domain.Billing, span domain.Range) (starts []time.Time, rest []domain.Range) {
	at := span.Start
	for period := billing.PeriodAt(at); !period.End.After(span.End); period = billing.PeriodAt(period.End) {
		isWhole := period.Start.Truncate(time.Hour).Equal(period.Start) && period.End.Truncate(time.Hour).Equal(period.End)
		if period.Start.Before(span.Start) || !isWhole {
			continue
		}
		if at.Before(period.Start) {
			rest = append(rest, domain.Range{Start: at, End: period.Start})
		}
		starts, at = append(starts, period.Start), period.End
	}
	if at.Before(span.End) {
		rest = append(rest, domain.Range{Start: at, End: span.End})
	}
	return starts, rest
}

const subscriberStatistics = `
SELECT subject, count(*) AS subscribers, sum(bytes)::bigint AS total, max(bytes) AS largest, count(*) FILTER (WHERE bytes > {above}) AS above,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY bytes) AS median, percentile_disc(0.95) WITHIN GROUP (ORDER BY bytes) AS p95
FROM (SELECT subject, mobile_originated + mobile_terminated AS bytes FROM ({usage}) AS u) AS u
GROUP BY subject`

// Statistics implements domain.Analytics.
func (a *Analytics) Statistics(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, above int64,
) (map[domain.Subject]domain.SubscriberStatistics, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	billing, err := a.billing(ctx, q)
	if err != nil {
		return nil, err
	}
	type row struct {
		Subject int
		domain.SubscriberStatistics
	}
	statistics := make(map[domain.Subject]domain.SubscriberStatistics, len(of))
	err = pg.EachRow(ctx, a.pool, pg.Fill(subscriberStatistics, "usage", q.bySubscriber(billing), "above", q.arg(above, "bigint")), q.args, func(r row) error {
		statistics[of[r.Subject-1]] = r.SubscriberStatistics
		return nil
	})
	return statistics, err
}
