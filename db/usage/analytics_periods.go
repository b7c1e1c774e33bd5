package usage

import (
	"context"
	"strings"
	"time"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// shortestPeriod is less than any billing period has, also one in which the clock is set ahead.
const shortestPeriod = 27 * 24 * time.Hour

// billing returns the billing periods of the company where their sums may stand
// for days; nil where they cannot: a group's usage is that of its time, and
// periods do not have the group.
func (a *Analytics) billing(ctx context.Context, q *usageQuery) (*domain.Billing, error) {
	if q.kind() == domain.GroupSubject || q.span.End.Sub(q.span.Start) < shortestPeriod {
		return nil, nil
	}
	billing, err := a.billingOf(ctx, q)
	return &billing, err
}

// billingOf returns the company's billing, which the scope of a caller has.
func (a *Analytics) billingOf(ctx context.Context, q *usageQuery) (domain.Billing, error) {
	if q.scope.Billing != nil {
		return *q.scope.Billing, nil
	}
	company, err := companies.New(a.pool).Find(ctx, q.scope)
	if err != nil {
		return domain.Billing{}, err
	}
	return company.Billing(), nil
}

const (
	sumBySubscriber = `
SELECT subject, subscriber_key, ` + volumeSums + `, max(last_seen) AS last_seen
FROM ({usage}) AS v
GROUP BY subject, subscriber_key
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0`
	// onceBySubscriber is of usage that has each subscriber once: to add it up costs as
	// much as to read it.
	onceBySubscriber = `
SELECT subject, subscriber_key, mobile_originated, mobile_terminated, last_seen
FROM ({usage}) AS v
WHERE mobile_originated > 0 OR mobile_terminated > 0`
)

// bySubscriber selects subject, subscriber_key, volumes and last_seen.
func (q *usageQuery) bySubscriber(billing *domain.Billing) string {
	usage, once := q.shortVolumes(billing)
	if once {
		return pg.Fill(onceBySubscriber, "usage", usage)
	}
	return pg.Fill(sumBySubscriber, "usage", usage)
}

// shortVolumes is volumes from as few rows as can be: whole billing periods
// stand ready. Their sessions are not known, nor their groups. It reports whether a
// subject has each subscriber once.
func (q *usageQuery) shortVolumes(billing *domain.Billing) (sql string, once bool) {
	if billing == nil {
		return q.volumes(splitDays(q.span)), false
	}
	starts, rest := splitPeriods(*billing, q.span)
	if len(starts) == 0 {
		return q.volumes(splitDays(q.span)), false
	}
	parts := []string{q.periods(starts)}
	for _, span := range rest {
		parts = append(parts, q.during(span).volumes(splitDays(span)))
	}
	return strings.Join(parts, "\nUNION ALL"), len(starts) == 1 && len(rest) == 0
}

const (
	companyPeriods = `
SELECT 1::bigint AS subject, p.subscriber_key, 0::bigint AS group_id, p.mobile_originated, p.mobile_terminated, 0::bigint AS sessions, p.last_seen
FROM subscriber_periods p
WHERE p.company_id = {company} AND p.period_start = ANY({periods})`
	memberPeriods = `
SELECT m.subject, p.subscriber_key, 0::bigint AS group_id, p.mobile_originated, p.mobile_terminated, 0::bigint AS sessions, p.last_seen
FROM ({members}) AS m
CROSS JOIN unnest({periods}) AS w(start)
JOIN subscriber_periods p ON p.company_id = {company} AND p.period_start = w.start AND p.subscriber_key = m.subscriber_key`
)

// periods selects what volumes does, of the billing periods with those starts.
func (q *usageQuery) periods(starts []time.Time) string {
	periods := q.arg(TimeArray(starts), "timestamptz[]")
	if q.isWhole() {
		return q.fill(companyPeriods, "periods", periods)
	}
	return q.fill(memberPeriods, "members", q.members(), "periods", periods)
}

// splitPeriods returns the starts of the billing periods that lie wholly in a span, and what
// else is in the span. It leaves out periods that begin or end within an hour: of these, days
// have the hour alone.
func splitPeriods(billing domain.Billing, span domain.Range) (starts []time.Time, rest []domain.Range) {
	from := span.Start
	for period := billing.PeriodAt(from); !period.End.After(span.End); period = billing.PeriodAt(period.End) {
		if period.Start.Before(span.Start) || !isOnTheHour(period.Start) || !isOnTheHour(period.End) {
			continue
		}
		if from.Before(period.Start) {
			rest = append(rest, domain.Range{Start: from, End: period.Start})
		}
		starts, from = append(starts, period.Start), period.End
	}
	if from.Before(span.End) {
		rest = append(rest, domain.Range{Start: from, End: span.End})
	}
	return starts, rest
}

func isOnTheHour(at time.Time) bool { return at.Equal(at.Truncate(time.Hour)) }

// PeriodsOver returns the starts and ends of the billing periods in the range.
func PeriodsOver(billing domain.Billing, over domain.Range) (starts, ends []time.Time) {
	for period := billing.PeriodAt(over.Start); period.Start.Before(over.End); period = billing.PeriodAt(period.End) {
		starts, ends = append(starts, period.Start), append(ends, period.End)
	}
	return starts, ends
}
