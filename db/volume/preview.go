package volume

import (
	"context"
	"time"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// maxPreviewed bounds for how many subjects, each once per billing period, the
// hours are looked through. Of more, these are the sample.
const maxPreviewed = 5000

// The statements of a preview. Parameters are the company, the starts and the
// ends of the billing periods, the two thresholds, the range, what the rule
// watches, the hours that count wholly for each period ($10 to $11), and the
// parts of other hours with the start of their period ($12 to $14). Totals of
// periods show who went above a threshold, hours show when. Two periods share an
// hour where the zone is no whole hours from UTC: the ledger has whose a record
// of it is.
const (
	previewPeriods = `
WITH period AS (
  SELECT *
  FROM unnest($2::timestamptz[], $3::timestamptz[], $10::timestamptz[], $11::timestamptz[]) AS p(period_start, period_end, hours_from, hours_until)
), edge AS (
  SELECT e.period_start, r.subscriber_key, r.started_at, date_trunc('hour', r.started_at, 'UTC') AS hour,
    r.mobile_originated + r.mobile_terminated AS bytes
  FROM unnest($12::timestamptz[], $13::timestamptz[], $14::timestamptz[]) AS e(period_start, since, until)
  JOIN usage_records r ON r.company_id = $1 AND r.started_at >= e.since AND r.started_at < e.until
)`
	previewSubscribers = previewPeriods + `, candidate AS (
  SELECT p.*, u.subscriber_key, NULL::bigint AS group_id
  FROM period p
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start
  JOIN subscribers s ON s.company_id = $1 AND s.key = u.subscriber_key
  WHERE u.mobile_originated + u.mobile_terminated > $4 AND (s.key = $8 OR s.group_id = $9 OR COALESCE($8, $9) IS NULL)
  ORDER BY p.period_start, u.subscriber_key
  LIMIT 5000
), hourly AS (
  SELECT c.*, (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' AS hour,
    cell.mobile_originated + cell.mobile_terminated AS bytes
  FROM candidate c
  CROSS JOIN LATERAL generate_series((c.period_start AT TIME ZONE 'UTC')::date, (c.period_end AT TIME ZONE 'UTC')::date, interval '1 day') AS on_day
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = on_day::date AND d.subscriber_key = c.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS cell
  WHERE (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' >= c.hours_from
    AND (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' < c.hours_until
  UNION ALL
  SELECT c.*, e.hour, e.bytes
  FROM candidate c
  JOIN edge e ON e.period_start = c.period_start AND e.subscriber_key = c.subscriber_key
)` + previewCrossed
	previewGroup = previewPeriods + `, ` + usage.SpansOfKnown + ` AND k.subscriber_key IN (SELECT subscriber_key FROM edge)` + usage.SpansOf +
		` AND m.subscriber_key IN (SELECT subscriber_key FROM edge)` + usage.SpansInOrder + `, candidate AS (
  SELECT p.*, NULL::bigint AS subscriber_key, u.group_id
  FROM period p
  JOIN group_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.group_id = $9
  WHERE u.mobile_originated + u.mobile_terminated > $4 AND $8::bigint IS NULL
), hourly AS (
  SELECT c.*, h.hour, h.mobile_originated + h.mobile_terminated AS bytes
  FROM candidate c
  JOIN group_hours h ON h.company_id = $1 AND h.group_id = c.group_id
    AND h.hour >= c.hours_from AND h.hour < c.hours_until
  UNION ALL
  SELECT c.*, e.hour, e.bytes
  FROM candidate c
  JOIN edge e ON e.period_start = c.period_start
  JOIN span s ON s.subscriber_key = e.subscriber_key AND s.group_id = c.group_id AND e.started_at >= s.since AND e.started_at < s.until
)` + previewCrossed
	previewCrossed = `, running AS (
  SELECT h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour,
    sum(sum(h.bytes)) OVER (PARTITION BY h.period_start, h.subscriber_key ORDER BY h.hour)::bigint AS usage
  FROM hourly h
  GROUP BY h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour
), crossed AS (
  SELECT DISTINCT ON (r.period_start, r.subscriber_key, b.boundary) b.boundary, r.subscriber_key, r.group_id, r.period_start, r.period_end, r.hour AS at, r.usage
  FROM running r
  CROSS JOIN (VALUES ('lower', $4::bigint), ('upper', $5::bigint)) AS b(boundary, threshold)
  WHERE r.usage > b.threshold
  ORDER BY r.period_start, r.subscriber_key, b.boundary, r.hour
), fired AS (
  SELECT * FROM crossed WHERE at >= $6 AND at < $7
)
SELECT f.*, count(*) OVER () AS total, (SELECT count(DISTINCT subscriber_key) + count(DISTINCT group_id) FROM fired) AS subjects
FROM fired f
ORDER BY f.at, f.subscriber_key, f.boundary
LIMIT 100`
)

// Preview implements domain.Alerts.
func (a *Alerts) Preview(ctx context.Context, scope domain.Scope, spec domain.AlertSpec, over domain.Range) (*domain.AlertPreview, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	targets, err := targetFinder{a.Pool, scope}.find(ctx, []domain.AlertSpec{spec})
	if err != nil {
		return nil, err
	}
	if targets[0].refused != nil {
		return nil, targets[0].refused
	}
	company, err := companies.Find(ctx, a.Pool, scope.Company)
	if err != nil {
		return nil, err
	}
	return a.preview(ctx, company, targets[0].alertKey, over)
}

func (a *Alerts) preview(ctx context.Context, company *domain.Company, alert alertKey, over domain.Range) (*domain.AlertPreview, error) {
	var sim, group any
	sql := previewSubscribers
	switch alert.RuleType {
	case domain.RuleSIM:
		sim = alert.TargetID
	case domain.RuleGroupMember:
		group = alert.TargetID
	case domain.RuleGroup:
		sql, group = previewGroup, alert.TargetID
	}
	ledger, err := usage.ReadLedger(ctx, a.Pool)
	if err != nil {
		return nil, err
	}
	of := previewPeriodsOver(company.Billing(), over, ledger.Start())
	rows, err := pg.SelectAll[previewRow](ctx, a.Pool, sql, company.CompanyID, of.starts, of.ends, alert.LowerThreshold, alert.UpperThreshold,
		over.Start, over.End, sim, group, of.from, of.until, of.edgePeriods, of.edgeStarts, of.edgeEnds)
	if err != nil {
		return nil, err
	}
	preview := previewOf(rows)
	if alert.RuleType == domain.RuleCompany || alert.RuleType == domain.RuleGroupMember {
		err = a.countAbove(ctx, preview, company.CompanyID, of.starts, alert, group)
	}
	return preview, err
}

const countAbove = `
SELECT count(*) AS candidates, count(*) + count(*) FILTER (WHERE u.mobile_originated + u.mobile_terminated > $4) AS total,
  count(DISTINCT u.subscriber_key) AS subjects
FROM subscriber_periods u
JOIN subscribers s ON s.company_id = $1 AND s.key = u.subscriber_key
WHERE u.company_id = $1 AND u.period_start = ANY($2::timestamptz[]) AND u.mobile_originated + u.mobile_terminated > $3
  AND ($5::bigint IS NULL OR s.group_id = $5)`

// countAbove makes a preview a sample when there are more candidates than it
// looked at: then it counts who went above the thresholds in the whole periods.
func (a *Alerts) countAbove(ctx context.Context, preview *domain.AlertPreview, company domain.CompanyID, starts usage.TimeArray, alert alertKey, group any) error {
	var above struct{ Candidates, Total, Subjects int }
	err := a.Pool.GetContext(ctx, &above, countAbove, company, starts, alert.LowerThreshold, alert.UpperThreshold, group)
	if err == nil && above.Candidates > maxPreviewed {
		preview.IsSample, preview.Total, preview.Subjects = true, above.Total, above.Subjects
	}
	return pg.Translate(err)
}

// previewPeriodColumns are billing periods with their hours, as columns.
type previewPeriodColumns struct {
	starts, ends, from, until         usage.TimeArray
	edgePeriods, edgeStarts, edgeEnds usage.TimeArray
}

// previewPeriodsOver returns the billing periods in the range.
func previewPeriodsOver(billing domain.Billing, over domain.Range, ledger time.Time) (c previewPeriodColumns) {
	c.starts, c.ends = usage.PeriodsOver(billing, over)
	for i, start := range c.starts {
		hours := domain.HoursOf(domain.Period{Start: start, End: c.ends[i]}, ledger)
		c.from, c.until = append(c.from, hours.From), append(c.until, hours.Until)
		for _, e := range hours.Edges {
			c.edgePeriods = append(c.edgePeriods, start)
			c.edgeStarts, c.edgeEnds = append(c.edgeStarts, e.Start), append(c.edgeEnds, e.End)
		}
	}
	return c
}

type previewRow struct {
	Boundary      domain.Boundary
	SubscriberKey *int64
	GroupID       *int64
	PeriodStart   time.Time
	PeriodEnd     time.Time
	At            time.Time
	Usage         int64
	Total         int
	Subjects      int
}

func previewOf(rows []*previewRow) *domain.AlertPreview {
	if len(rows) == 0 {
		return &domain.AlertPreview{}
	}
	return &domain.AlertPreview{
		Total: rows[0].Total, Subjects: rows[0].Subjects,
		Firings: pg.Pluck(rows, func(row *previewRow) *domain.AlertFiring {
			return &domain.AlertFiring{
				Boundary: row.Boundary, SubscriberKey: row.SubscriberKey, GroupID: row.GroupID,
				Period: domain.Period{Start: row.PeriodStart, End: row.PeriodEnd}, At: row.At, Usage: row.Usage,
			}
		}),
	}
}
