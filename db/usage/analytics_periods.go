package usage

import (
	"context"
	"time"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// daysOfPeriod are the fewest days of a billing period.
const daysOfPeriod = 28

// billing returns the billing periods of the company where their sums may stand
// for days; nil where they cannot: a group's usage is that of its time, and
// periods do not have the group.
func (a *Analytics) billing(ctx context.Context, q *usageQuery) (*domain.Billing, error) {
	whole, _ := splitDays(q.span)
	if q.kind() == domain.GroupSubject || len(whole) < daysOfPeriod {
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
	whole, rest := splitDays(q.span)
	if billing == nil {
		return q.volumes(whole, rest), false
	}
	periods, whole := splitPeriods(*billing, whole)
	if len(periods) == 0 {
		return q.volumes(whole, rest), false
	}
	sums := q.periods(periods)
	if len(whole)+len(rest) == 0 {
		return sums, len(periods) == 1
	}
	return q.volumes(whole, rest) + "\nUNION ALL" + sums, false
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

// splitPeriods takes billing periods that begin and end with UTC days off days,
// which are in a row, and returns the starts of the periods and the other days.
func splitPeriods(billing domain.Billing, days []time.Time) (starts, rest []time.Time) {
	for len(days) > 0 {
		period := billing.PeriodAt(days[0])
		n := int(period.End.Sub(period.Start) / (hoursOfDay * time.Hour))
		if !period.Start.Equal(days[0]) || !dayOf(period.End).Equal(period.End) || n > len(days) {
			rest, days = append(rest, days[0]), days[1:]
			continue
		}
		starts, days = append(starts, period.Start), days[n:]
	}
	return starts, rest
}

// PeriodsOver returns the starts and ends of the billing periods in the range.
func PeriodsOver(billing domain.Billing, over domain.Range) (starts, ends []time.Time) {
	for period := billing.PeriodAt(over.Start); period.Start.Before(over.End); period = billing.PeriodAt(period.End) {
		starts, ends = append(starts, period.Start), append(ends, period.End)
	}
	return starts, ends
}
