package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"simgraph/db"
	"simgraph/domain"
)

// question is one of analytics.
type question struct {
	name string
	ask  func(ctx context.Context) error
	// ceiling asks PostgreSQL for the same by hand; "" where there is none.
	ceiling string
}

// analytics asks every question at every size.
func (b *bench) analytics(ctx context.Context) error {
	usage := db.NewUsage(b.pool, nil, db.UsageOptions{})
	if _, err := b.pool.ExecContext(ctx, clearUsage); err != nil {
		return err
	}
	for i, size := range b.sizes {
		from := 0
		if i > 0 {
			from = b.sizes[i-1]
		}
		began := time.Now()
		if err := b.fill(ctx, usage, from, size); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "\n## Analytics over %d records of %d subscribers in a month\n\nLedger filled and totals rebuilt in %s.\n\n",
			size, b.subscribers, time.Since(began).Round(time.Second))
		fmt.Fprintln(b.out, "| question | median | CPU of the database | the same SQL by hand | ratio |")
		fmt.Fprintln(b.out, "|:--|--:|--:|--:|--:|")
		for _, q := range b.questions(db.NewAnalytics(usage)) {
			if err := b.answer(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return nil
}

const clearUsage = `
TRUNCATE usage_ids, usage_records, usage_sources, usage_sessions, company_hours, company_sessions, group_hours, group_sessions,
  subscriber_days, ip_days, subscriber_periods, group_periods, ids_alone, ledger_alone`

func (b *bench) questions(a *db.Analytics) []question {
	month := domain.Range{Start: b.month.Start, End: b.month.End, Offset: time.UTC}
	days := domain.Range{Start: month.Start.Add(time.Hour), End: month.End.Add(-time.Hour), Offset: time.UTC}
	company := domain.Subject{}
	one := domain.Subject{Kind: domain.SubscriberSubject, ID: int64(b.subscribers / 2)}
	var hundred []domain.Subject
	for i := range 100 {
		hundred = append(hundred, domain.Subject{Kind: domain.SubscriberSubject, ID: int64(b.subscribers/2 + i)})
	}
	group := domain.Subject{Kind: domain.GroupSubject, ID: 7}
	hourly := domain.Interval{Unit: domain.Hourly, Zone: time.UTC}
	daily := domain.Interval{Unit: domain.Daily, Zone: time.UTC}
	series := func(span domain.Range, by domain.Interval, of ...domain.Subject) func(context.Context) error {
		return func(ctx context.Context) error { _, err := a.Series(ctx, b.scope, of, span, by); return err }
	}
	breakdown := func(of domain.Subject, by domain.Dimension) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := a.Breakdown(ctx, b.scope, []domain.Subject{of}, month, by, 10)
			return err
		}
	}
	subscribers := func(span domain.Range) func(context.Context) error {
		return func(ctx context.Context) error {
			return a.Subscribers(ctx, b.scope, span, func(domain.SubscriberUsage) error { return nil })
		}
	}
	addresses := func(of domain.Subject, span domain.Range) func(context.Context) error {
		return func(ctx context.Context) error {
			return a.Addresses(ctx, b.scope, of, span, func(domain.AddressUsage) error { return nil })
		}
	}
	return []question{
		{"company by hour, a month", series(month, hourly, company), companyByHand},
		{"company by protocol and hour, a month", func(ctx context.Context) error { _, err := a.ProtocolHours(ctx, b.scope, month); return err }, ""},
		{"company by subscriber, whole month", subscribers(month), ""},
		{"company by subscriber, days and hours", subscribers(days), ""},
		{"company by IP address, a month", addresses(company, month), addressesByHand},
		{"one subscriber by hour, a month", series(month, hourly, one), ""},
		{"one subscriber by IP address, a month", addresses(one, month), ""},
		{"100 subscribers by day, a month", series(month, daily, hundred...), ""},
		{"one group by hour, a month", series(month, hourly, group), ""},
		{"top 10 subscribers, a month", func(ctx context.Context) error {
			_, err := a.Top(ctx, b.scope, []domain.Subject{company}, month, 10)
			return err
		}, ""},
		{"company by operator, a month", breakdown(company, domain.ByOperator), ""},
		{"company by group, a month", breakdown(company, domain.ByGroup), ""},
		{"one group by tariff, a month", breakdown(group, domain.ByTariff), ""},
	}
}

const (
	companyByHand = `
SELECT hour, sum(mobile_originated), sum(mobile_terminated) FROM company_hours
WHERE company_id = $1 AND hour >= $2 AND hour < $3 GROUP BY hour ORDER BY hour`
	addressesByHand = `
SELECT ip_address, max(last_seen), sum(mobile_originated), sum(mobile_terminated) FROM ip_days
WHERE company_id = $1 AND day >= $2 AND day < $3 GROUP BY ip_address ORDER BY ip_address`
)

func (b *bench) answer(ctx context.Context, q question) error {
	own, err := b.repeat(ctx, q.ask)
	if err != nil {
		return err
	}
	if q.ceiling == "" {
		fmt.Fprintf(b.out, "| %s | %s | %s | | |\n", q.name, millis(own.wall), millis(own.cpu))
		return nil
	}
	byHand, err := b.repeat(ctx, func(ctx context.Context) error {
		rows, err := b.pool.QueryContext(ctx, q.ceiling, b.scope.Company, b.month.Start, b.month.End)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
		}
		return rows.Err()
	})
	fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s |\n", q.name, millis(own.wall), millis(own.cpu), millis(byHand.wall), ratio(own.wall, byHand.wall))
	return err
}

// repeat asks again and again, after a first time that fills the caches, and
// returns the median with the average CPU.
func (b *bench) repeat(ctx context.Context, ask func(context.Context) error) (measured, error) {
	if err := ask(ctx); err != nil {
		return measured{}, err
	}
	var walls []time.Duration
	began, cpu := time.Now(), b.cpu.total()
	for len(walls) < 5 || time.Since(began) < 2*time.Second && len(walls) < 500 {
		start := time.Now()
		if err := ask(ctx); err != nil {
			return measured{}, err
		}
		walls = append(walls, time.Since(start))
	}
	slices.Sort(walls)
	return measured{wall: walls[len(walls)/2], cpu: (b.cpu.total() - cpu) / time.Duration(len(walls))}, nil
}
