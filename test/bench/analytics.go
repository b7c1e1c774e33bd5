package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"simgraph/db/usage"
	"simgraph/domain"
)

// question is one of analytics.
type question struct {
	name string
	run  func(ctx context.Context, a *usage.Analytics) error
}

// analytics runs every query at every size.
func (b *bench) analytics(ctx context.Context) error {
	store := usage.New(b.pool, nil, usage.Options{})
	if _, err := b.pool.ExecContext(ctx, clearUsage); err != nil {
		return err
	}
	for i, size := range b.sizes {
		from := 0
		if i > 0 {
			from = b.sizes[i-1]
		}
		began := time.Now()
		if err := b.fill(ctx, store, from, size); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "\n## Analytics over %d records of %d subscribers in a month\n\nLedger filled and totals rebuilt in %s.\n\n",
			size, b.subscribers, time.Since(began).Round(time.Second))
		fmt.Fprintln(b.out, "| question | median | CPU of the database | the same SQL by pgbench | CPU of the database | CPU ratio |")
		fmt.Fprintln(b.out, "|:--|--:|--:|--:|--:|--:|")
		for _, q := range b.questions() {
			if err := b.answer(ctx, q, usage.NewAnalytics(store)); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return nil
}

const clearUsage = `
TRUNCATE usage_ids, usage_records, usage_sources, usage_sessions, company_hours, company_sessions, group_hours, group_sessions,
  subscriber_days, ip_days, ip_months, usage_months, subscriber_periods, group_periods, ids_alone, ledger_alone`

func (b *bench) questions() []question {
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
	return []question{
		{"company by hour, a month", b.series(month, hourly, company)},
		{"company by protocol and hour, a month", func(ctx context.Context, a *usage.Analytics) error {
			return a.ProtocolHours(ctx, b.scope, []domain.Subject{company}, month, func(domain.Subject, domain.ProtocolHour) error { return nil })
		}},
		{"company by subscriber, whole month", b.bySubscriber(month)},
		{"company by subscriber, days and hours", b.bySubscriber(days)},
		{"company by IP address, a month", b.byAddress(company, month)},
		{"one subscriber by hour, a month", b.series(month, hourly, one)},
		{"one subscriber by IP address, a month", b.byAddress(one, month)},
		{"100 subscribers by day, a month", b.series(month, daily, hundred...)},
		{"one group by hour, a month", b.series(month, hourly, group)},
		{"top 10 subscribers, a month", b.top(month)},
		{"top 10 subscribers, days and hours", b.top(days)},
		{"company by operator, a month", b.breakdown(company, month, domain.ByOperator)},
		{"company by group, a month", b.breakdown(company, month, domain.ByGroup)},
		{"company by source, a month", b.breakdown(company, month, domain.BySource)},
		{"one group by tariff, a month", b.breakdown(group, month, domain.ByTariff)},
	}
}

type asking = func(context.Context, *usage.Analytics) error

func (b *bench) series(span domain.Range, by domain.Interval, of ...domain.Subject) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.Series(ctx, b.scope, of, span, by, domain.AllMeasures)
		return err
	}
}

func (b *bench) bySubscriber(span domain.Range) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		return a.Subscribers(ctx, b.scope, []domain.Subject{{}}, span, func(domain.Subject, domain.SubscriberUsage) error { return nil })
	}
}

func (b *bench) byAddress(of domain.Subject, span domain.Range) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		return a.Addresses(ctx, b.scope, []domain.Subject{of}, span, func(domain.Subject, domain.AddressUsage) error { return nil })
	}
}

func (b *bench) top(span domain.Range) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.Top(ctx, b.scope, []domain.Subject{{}}, span, 10)
		return err
	}
}

func (b *bench) breakdown(of domain.Subject, span domain.Range, by domain.Dimension) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.Breakdown(ctx, b.scope, []domain.Subject{of}, span, by, 10)
		return err
	}
}

// answer prints what a question costs, and what its statements alone do.
func (b *bench) answer(ctx context.Context, q question, a *usage.Analytics) error {
	own, err := b.repeat(ctx, func(ctx context.Context) error { return q.run(ctx, a) })
	if err != nil {
		return err
	}
	statements, err := b.statementsOf(ctx, q)
	if err != nil {
		return err
	}
	alone := b.pgbench(ctx, q.name, statements, 1)
	if alone.Failures > 0 {
		fmt.Fprintf(b.out, "| %s | %s | %s | – | – | – |\n", q.name, millis(own.wall), millis(own.cpu))
		return ctx.Err()
	}
	wall := time.Duration(float64(time.Second) / alone.PerSecond)
	cpu := time.Duration(alone.PostgreSQL * float64(time.Microsecond))
	fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %s |\n", q.name, millis(own.wall), millis(own.cpu), millis(wall), millis(cpu), ratio(own.cpu, cpu))
	return nil
}

// statementsOf runs it once more and notes what the store runs.
func (b *bench) statementsOf(ctx context.Context, q question) ([]statement, error) {
	recorder, pool, err := newRecorder(b.url, b.pool.Mapper)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	err = q.run(ctx, usage.NewAnalytics(usage.New(pool, nil, usage.Options{})))
	return recorder.statements, err
}

// repeat runs it again and again, after a first time that fills the caches, and
// returns the median with the average CPU.
func (b *bench) repeat(ctx context.Context, run func(context.Context) error) (measured, error) {
	if err := run(ctx); err != nil {
		return measured{}, err
	}
	var walls []time.Duration
	began, cpu := time.Now(), b.cpu.total()
	for len(walls) < 5 || time.Since(began) < 2*time.Second && len(walls) < 500 {
		start := time.Now()
		if err := run(ctx); err != nil {
			return measured{}, err
		}
		walls = append(walls, time.Since(start))
	}
	slices.Sort(walls)
	return measured{wall: walls[len(walls)/2], cpu: (b.cpu.total() - cpu) / time.Duration(len(walls))}, nil
}
