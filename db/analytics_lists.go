package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Top implements domain.Analytics.
func (a *Analytics) Top(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, first int) (map[domain.Subject][]domain.SubscriberUsage, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	usage, err := a.bySubscriber(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	type row struct {
		Subject int
		domain.SubscriberUsage
	}
	sql := fill(topSubscribers, "usage", usage, "company", q.company, "visible", fill(visibleMembers, "scope", q.scope), "first", q.arg(first, "bigint"))
	rows, err := selectAll[row](ctx, a.pool, sql, q.args...)
	top := make(map[domain.Subject][]domain.SubscriberUsage, len(of))
	for _, r := range rows {
		top[of[r.Subject-1]] = append(top[of[r.Subject-1]], r.SubscriberUsage)
	}
	return top, err
}

const topSubscribers = `
SELECT subject, subscriber_key, subscriber_id, last_seen, mobile_originated, mobile_terminated
FROM (
  SELECT u.*, s.subscriber_id,
    row_number() OVER (PARTITION BY u.subject ORDER BY u.mobile_originated + u.mobile_terminated DESC, u.subscriber_key) AS place
  FROM ({usage}) AS u
  JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
  WHERE {visible}
) AS u
WHERE place <= {first}
ORDER BY subject, place`

const listSubscriberUsage = `
SELECT u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
ORDER BY s.subscriber_id, u.last_seen`

// Subscribers implements domain.Analytics.
func (a *Analytics) Subscribers(ctx context.Context, scope domain.Scope, span domain.Range, each func(domain.SubscriberUsage) error) error {
	q := newUsageQuery(scope, []domain.Subject{{Kind: domain.CompanySubject}}, span)
	usage, err := a.bySubscriber(ctx, scope, q)
	if err != nil {
		return err
	}
	return eachRow(ctx, a.pool, fill(listSubscriberUsage, "usage", usage, "company", q.company), q.args, each)
}

const sumBySubscriber = `
SELECT subject, subscriber_key, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated,
  max(last_seen) AS last_seen
FROM ({usage}) AS v
GROUP BY subject, subscriber_key
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0`

// bySubscriber selects subject, subscriber_key, volumes and last_seen. Whole
// billing periods of the whole company stand ready.
func (a *Analytics) bySubscriber(ctx context.Context, scope domain.Scope, q *usageQuery) (string, error) {
	whole, rest := splitDays(q.span)
	var periods []time.Time
	if q.isWhole() && len(whole) >= 28 {
		company, err := NewCompanies(a.pool).Find(ctx, scope)
		if err != nil {
			return "", err
		}
		periods, whole = splitPeriods(company.Billing(), whole)
	}
	usage := q.volumes(whole, rest)
	if len(periods) > 0 {
		usage += fill(periodVolumes, "subjects", q.subjects, "company", q.company, "scope", q.scope, "periods", q.arg(timeArray(periods), "timestamptz[]"))
	}
	return fill(sumBySubscriber, "usage", usage), nil
}

const periodVolumes = `
UNION ALL
SELECT m.subject, p.subscriber_key, 0, p.mobile_originated, p.mobile_terminated, 0, p.last_seen
FROM unnest({subjects}) WITH ORDINALITY AS m(id, subject)
CROSS JOIN unnest({periods}) AS w(start)
JOIN subscriber_periods p ON p.company_id = {company} AND p.period_start = w.start
WHERE {scope} IS NULL`

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

// ProtocolHours implements domain.Analytics.
func (a *Analytics) ProtocolHours(ctx context.Context, scope domain.Scope, span domain.Range) ([]domain.ProtocolHour, error) {
	q := newUsageQuery(scope, []domain.Subject{{Kind: domain.CompanySubject}}, span)
	var hours []domain.ProtocolHour
	err := sqlx.SelectContext(ctx, a.pool, &hours, fill(listProtocolHours, "usage", q.protocols()), q.args...)
	return hours, Translate(err)
}

const listProtocolHours = `
SELECT protocol, hour, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY protocol, hour
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY protocol, hour`

const listAddresses = `
SELECT host(ip_address) AS ip_address, max(last_seen) AS last_seen,
  sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY u.ip_address
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY u.ip_address`

// Addresses implements domain.Analytics.
func (a *Analytics) Addresses(ctx context.Context, scope domain.Scope, of domain.Subject, span domain.Range, each func(domain.AddressUsage) error) error {
	q := newUsageQuery(scope, []domain.Subject{of}, span)
	return eachRow(ctx, a.pool, fill(listAddresses, "usage", q.addresses(a.usage.oldest())), q.args, each)
}

// eachRow calls each with one row after the other.
func eachRow[T any](ctx context.Context, in sqlx.QueryerContext, sql string, args []any, each func(T) error) error {
	rows, err := in.QueryxContext(ctx, sql, args...)
	if err != nil {
		return Translate(err)
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := rows.StructScan(&row); err != nil {
			return Translate(err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return Translate(rows.Err())
}
