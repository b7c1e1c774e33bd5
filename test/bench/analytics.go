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
	return b.year(ctx, usage.NewAnalytics(store))
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
		{"company by day, a month", b.series(month, daily, company)},
		{"company by day and group, a month", b.seriesBy(month, daily, domain.ByGroup)},
		{"company by day and group, days of two periods", b.seriesBy(days, daily, domain.ByGroup)},
		{"company by day and protocol, a month", b.seriesBy(month, daily, domain.ByProtocol)},
		{"company by day and operator, a month", b.seriesBy(month, daily, domain.ByOperator)},
		{"company by day and tag, a month", b.seriesBy(month, daily, domain.ByTag)},
		{"distribution over subscribers, a month", b.statistics(month)},
	}
}

// yearQuestions are about the totals of twelve months.
func (b *bench) yearQuestions() []question {
	year := domain.Range{Start: b.month.End.AddDate(-1, 0, 0), End: b.month.End, Offset: time.UTC}
	cut := domain.Range{Start: year.Start.AddDate(0, 0, 14), End: year.End.AddDate(0, 0, -14), Offset: time.UTC}
	daily, monthly := domain.Interval{Unit: domain.Daily, Zone: time.UTC}, domain.Interval{Unit: domain.Monthly, Zone: time.UTC}
	return []question{
		{"company by day, a year", b.series(year, daily, domain.Subject{})},
		{"company by day and group, a year", b.seriesBy(year, daily, domain.ByGroup)},
		{"company by month and group, a year", b.seriesBy(year, monthly, domain.ByGroup)},
		{"company by day and group, a year less two half months", b.seriesBy(cut, daily, domain.ByGroup)},
	}
}

// The totals of the eleven months before are those of the month, as far as a company and its
// groups are read from totals of their own.
const (
	earlierHours = `
INSERT INTO company_hours
SELECT h.company_id, h.hour - n * interval '28 days', h.protocol, h.mobile_originated, h.mobile_terminated
FROM company_hours h, generate_series(1, 12) n WHERE h.company_id = $1 AND h.hour < $2::timestamptz + interval '28 days'`
	earlierSessions = `
INSERT INTO company_sessions
SELECT h.company_id, h.hour - n * interval '28 days', h.sessions
FROM company_sessions h, generate_series(1, 12) n WHERE h.company_id = $1 AND h.hour < $2::timestamptz + interval '28 days'`
	earlierHoursOfGroups = `
INSERT INTO group_hours
SELECT h.company_id, h.group_id, h.hour - n * interval '28 days', h.protocol, h.mobile_originated, h.mobile_terminated
FROM group_hours h, generate_series(1, 12) n WHERE h.company_id = $1 AND h.hour < $2::timestamptz + interval '28 days'`
	earlierSessionsOfGroups = `
INSERT INTO group_sessions
SELECT h.company_id, h.group_id, h.hour - n * interval '28 days', h.sessions
FROM group_sessions h, generate_series(1, 12) n WHERE h.company_id = $1 AND h.hour < $2::timestamptz + interval '28 days'`
	earlierPeriods = `
INSERT INTO group_periods
SELECT h.company_id, date_trunc('month', h.hour, 'UTC'), h.group_id, sum(h.mobile_originated), sum(h.mobile_terminated)
FROM group_hours h WHERE h.company_id = $1 AND h.hour < $2::timestamptz GROUP BY 1, 2, 3`
)

// year makes the months before of the last one, and asks about all.
func (b *bench) year(ctx context.Context, a *usage.Analytics) error {
	for _, sql := range []string{earlierHours, earlierSessions, earlierHoursOfGroups, earlierSessionsOfGroups, earlierPeriods} {
		if _, err := b.pool.ExecContext(ctx, sql, b.scope.Company, b.month.Start); err != nil {
			return err
		}
	}
	if _, err := b.pool.ExecContext(ctx, "VACUUM ANALYZE company_hours, company_sessions, group_hours, group_sessions, group_periods"); err != nil {
		return err
	}
	for _, q := range b.yearQuestions() {
		if err := b.answer(ctx, q, a); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

type asking = func(context.Context, *usage.Analytics) error

func (b *bench) series(span domain.Range, by domain.Interval, of ...domain.Subject) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.Series(ctx, b.scope, of, span, by, domain.AllMeasures)
		return err
	}
}

func (b *bench) seriesBy(span domain.Range, by domain.Interval, dimension domain.Dimension) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.SeriesBy(ctx, b.scope, []domain.Subject{{}}, span, by, dimension, 8)
		return err
	}
}

func (b *bench) statistics(span domain.Range) asking {
	return func(ctx context.Context, a *usage.Analytics) error {
		_, err := a.Statistics(ctx, b.scope, []domain.Subject{{}}, span, 1_000_000)
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
