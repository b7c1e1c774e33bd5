package db

import (
	"context"

	"simgraph/domain"
)

const listSubscriberUsage = `
SELECT u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
ORDER BY s.subscriber_id, u.last_seen`

// Subscribers implements domain.Analytics.
func (a *Analytics) Subscribers(ctx context.Context, scope domain.Scope, span domain.Range, each func(domain.SubscriberUsage) error) error {
	q := newUsageQuery(scope, []domain.Subject{{Kind: domain.CompanySubject}}, span)
	billing, err := a.billing(ctx, scope, q)
	if err != nil {
		return err
	}
	return eachRow(ctx, a.pool, fill(listSubscriberUsage, "usage", q.bySubscriber(billing), "company", q.company), q.args, each)
}

// ProtocolHours implements domain.Analytics.
func (a *Analytics) ProtocolHours(ctx context.Context, scope domain.Scope, span domain.Range) ([]domain.ProtocolHour, error) {
	q := newUsageQuery(scope, []domain.Subject{{Kind: domain.CompanySubject}}, span)
	return selectValues[domain.ProtocolHour](ctx, a.pool, fill(listProtocolHours, "usage", q.protocols()), q.args...)
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
