package db

import (
	"context"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// minLeaders is how many subscribers a race counts first, per billing
	// period, at least; leadersPerPlace per place that is asked for.
	minLeaders      = 20
	leadersPerPlace = 2
	// maxRivals is for how many subscribers days are looked up one by one,
	// which is dearer than to read the days of all when these are many.
	maxRivals = 10_000
	// minRace is the shortest span that billing periods say something about.
	minRace = 7 * 24 * time.Hour
)

// Top implements domain.Analytics.
func (a *Analytics) Top(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, first int) (map[domain.Subject][]domain.SubscriberUsage, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	if q.isWhole() && span.End.Sub(span.Start) >= minRace {
		top, decided, err := a.race(ctx, scope, span, first)
		if err != nil || decided {
			return map[domain.Subject][]domain.SubscriberUsage{of[0]: top}, err
		}
	}
	billing, err := a.billing(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	return a.top(ctx, q, billing, first)
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

// top counts the usage of all members of the subjects.
func (a *Analytics) top(ctx context.Context, q *usageQuery, billing *domain.Billing, first int) (map[domain.Subject][]domain.SubscriberUsage, error) {
	type row struct {
		Subject int
		domain.SubscriberUsage
	}
	sql := fill(topSubscribers, "usage", q.bySubscriber(billing), "company", q.company, "visible", fill(visibleMembers, "scope", q.scope), "first", q.arg(first, "bigint"))
	rows, err := selectAll[row](ctx, a.pool, sql, q.args...)
	top := make(map[domain.Subject][]domain.SubscriberUsage, len(q.of))
	for _, r := range rows {
		top[q.of[r.Subject-1]] = append(top[q.of[r.Subject-1]], r.SubscriberUsage)
	}
	return top, err
}

// A race finds the subscribers of a company with the most usage in a span from
// the billing periods that it touches: nobody has more in the span than in
// these, and they are indexed by magnitude. The leaders of the periods are
// counted, and then all who may have as much as the last of those who would win.
type race struct {
	*Analytics
	scope   domain.Scope
	billing domain.Billing
	span    domain.Range
	periods any
	first   int
}

// race answers false when it cannot be decided by counting few.
func (a *Analytics) race(ctx context.Context, scope domain.Scope, span domain.Range, first int) ([]domain.SubscriberUsage, bool, error) {
	company, err := NewCompanies(a.pool).Find(ctx, scope)
	if err != nil {
		return nil, false, err
	}
	starts, _ := periodsOver(company.Billing(), span)
	return race{a, scope, company.Billing(), span, timeArray(starts), first}.run(ctx)
}

// findLeaders sorts by usage what is of the same magnitude: were they any of
// those, many more would have to be counted after them.
const findLeaders = `
SELECT DISTINCT l.subscriber_key
FROM unnest($2::timestamptz[]) AS w(start)
CROSS JOIN LATERAL (
  SELECT p.subscriber_key FROM subscriber_periods p
  WHERE p.company_id = $1 AND p.period_start = w.start
  ORDER BY p.magnitude DESC, p.mobile_originated + p.mobile_terminated DESC
  LIMIT $3
) AS l`

// findRivals finds who has that many bytes in all periods together, so in one
// of them at least an equal part.
const findRivals = `
SELECT near.subscriber_key
FROM (
  SELECT DISTINCT p.subscriber_key
  FROM unnest($2::timestamptz[]) AS w(start)
  JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = w.start AND p.magnitude >= usage_magnitude($3::bigint / cardinality($2))
    AND p.mobile_originated + p.mobile_terminated >= $3 / cardinality($2)
) AS near
CROSS JOIN LATERAL (
  SELECT sum(p.mobile_originated + p.mobile_terminated) AS bytes FROM subscriber_periods p
  WHERE p.company_id = $1 AND p.period_start = ANY($2) AND p.subscriber_key = near.subscriber_key
) AS most
WHERE most.bytes >= $3
LIMIT $4`

func (r race) run(ctx context.Context) ([]domain.SubscriberUsage, bool, error) {
	leaders, err := selectValues[int64](ctx, r.pool, findLeaders, r.scope.Company, r.periods, max(minLeaders, leadersPerPlace*r.first))
	if err != nil {
		return nil, false, err
	}
	top, err := r.count(ctx, leaders)
	if err != nil {
		return nil, false, err
	}
	least := int64(1)
	if len(top) == r.first {
		least = top[len(top)-1].Total()
	}
	rivals, err := selectValues[int64](ctx, r.pool, findRivals, r.scope.Company, r.periods, least, maxRivals+1)
	if err != nil {
		return nil, false, err
	}
	if len(rivals) > maxRivals {
		return nil, false, nil
	}
	if !within(leaders, rivals) {
		top, err = r.count(ctx, rivals)
	}
	return top, true, err
}

// within tells whether all of some are among all.
func within(all, some []int64) bool {
	slices.Sort(all)
	return !slices.ContainsFunc(some, func(key int64) bool {
		_, found := slices.BinarySearch(all, key)
		return !found
	})
}

// count counts the usage of the subscribers with those keys, and returns the
// first of them.
func (r race) count(ctx context.Context, keys []int64) ([]domain.SubscriberUsage, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	q := newUsageQuery(r.scope, pluck(keys, func(key int64) domain.Subject {
		return domain.Subject{Kind: domain.SubscriberSubject, ID: key}
	}), r.span)
	sql := fill(countSubscribers, "usage", q.bySubscriber(&r.billing), "company", q.company, "first", q.arg(r.first, "bigint"))
	rows, err := selectAll[domain.SubscriberUsage](ctx, r.pool, sql, q.args...)
	return pluck(rows, func(row *domain.SubscriberUsage) domain.SubscriberUsage { return *row }), err
}

const countSubscribers = `
SELECT u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
ORDER BY u.mobile_originated + u.mobile_terminated DESC, u.subscriber_key
LIMIT {first}`
