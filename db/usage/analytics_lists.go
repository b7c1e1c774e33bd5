package usage

import (
	"context"
	"fmt"

	"simgraph/db/pg"
	"simgraph/domain"
)

const listSubscriberUsage = `
SELECT u.subject, u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
WHERE {visible}
ORDER BY u.subject, s.subscriber_id, u.last_seen`

// Subscribers implements domain.Analytics.
func (a *Analytics) Subscribers(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.SubscriberUsage) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	billing, err := a.billing(ctx, q)
	if err != nil {
		return err
	}
	sql := q.fill(listSubscriberUsage, "usage", q.bySubscriber(billing))
	type row struct {
		Subject int
		domain.SubscriberUsage
	}
	return eachEntry(ctx, a, q, sql, func(r row) error {
		r.LastSeen = span.Within(r.LastSeen)
		return each(of[r.Subject-1], r.SubscriberUsage)
	})
}

// ProtocolHours implements domain.Analytics.
func (a *Analytics) ProtocolHours(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.ProtocolHour) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	type row struct {
		Subject int
		domain.ProtocolHour
	}
	hours := 0
	return eachEntry(ctx, a, q, pg.Fill(listProtocolHours, "usage", q.protocols()), func(r row) error {
		if hours++; hours > domain.MaxSeriesPoints {
			return domain.TooManyEntries(len(of))
		}
		return each(of[r.Subject-1], r.ProtocolHour)
	})
}

const listProtocolHours = `
SELECT subject, protocol, hour, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY subject, protocol, hour
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY subject, protocol, hour`

const listAddresses = `
SELECT subject, host(ip_address) AS ip_address, max(last_seen) AS last_seen,
  sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY subject, u.ip_address
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY subject, u.ip_address`

const listDistinctAddresses = `
SELECT subject, host(ip_address) AS ip_address, last_seen, mobile_originated, mobile_terminated
FROM ({usage}) AS u
WHERE mobile_originated > 0 OR mobile_terminated > 0
ORDER BY subject, u.ip_address`

// Addresses implements domain.Analytics.
func (a *Analytics) Addresses(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.AddressUsage) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	type row struct {
		Subject int
		domain.AddressUsage
	}
	parts, distinct, err := a.addresses(ctx, q)
	if err != nil {
		return err
	}
	sql := pg.Fill(listAddresses, "usage", parts)
	if distinct {
		sql = pg.Fill(listDistinctAddresses, "usage", parts)
	}
	return eachEntry(ctx, a, q, sql, func(r row) error {
		r.LastSeen = span.Within(r.LastSeen)
		return each(of[r.Subject-1], r.AddressUsage)
	})
}

// eachEntry calls each with the rows of a list, which is bounded where it is of
// several subjects. A bound that never holds would mislead the planner.
func eachEntry[T any](ctx context.Context, a *Analytics, q *usageQuery, sql string, each func(T) error) error {
	if len(q.of) == 1 {
		return pg.EachRow(ctx, a.pool, sql, q.args, each)
	}
	entries := 0
	return pg.EachRow(ctx, a.pool, fmt.Sprintf("%s\nLIMIT %d", sql, domain.MaxSeriesPoints+1), q.args, func(row T) error {
		if entries++; entries > domain.MaxSeriesPoints {
			return domain.TooManyEntries(len(q.of))
		}
		return each(row)
	})
}
