package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

// usageSpan asks for usage in a span of hours, of subjects of one kind.
type usageSpan struct {
	kind       domain.SubjectKind
	start, end int64
}

func spanOf(u *model.Usage) usageSpan {
	return usageSpan{u.Of.Kind, u.Span.Start.Unix(), u.Span.End.Unix()}
}

func (s usageSpan) hours() domain.Range {
	return domain.Range{Start: time.Unix(s.start, 0).UTC(), End: time.Unix(s.end, 0).UTC(), Offset: time.UTC}
}

// What more may be asked of usage.
type (
	seriesAsked struct {
		usageSpan
		unit     domain.Unit
		zone     string
		zeroFill bool
	}
	sharesAsked struct {
		usageSpan
		by    domain.Dimension
		first int
	}
	topAsked struct {
		usageSpan
		first int
	}
)

// newSeriesAsked asks for a series in the time zone, or else in the company's.
func newSeriesAsked(caller *domain.Caller, of *model.Usage, unit domain.Unit, timeZone *string, zeroFill bool) (seriesAsked, error) {
	interval := domain.Interval{Unit: unit, Zone: caller.Company.Billing().Zone}
	if timeZone != nil {
		var err error
		if interval, err = domain.NewInterval(unit, *timeZone); err != nil {
			return seriesAsked{}, err
		}
	}
	return seriesAsked{spanOf(of), unit, interval.Zone.String(), zeroFill}, interval.Check(of.Span)
}

// hoursOf asks for the hours that have anything: as many as the span has, since
// the documented shapes have no other bound.
func hoursOf(of *model.Usage) seriesAsked {
	return seriesAsked{usageSpan: spanOf(of), unit: domain.Hourly, zone: "UTC"}
}

// usageBy is a relation of usage.
type usageBy[A comparable, V any] = relationBy[A, domain.Subject, V]

// usageRelations are the relations of usage.
type usageRelations struct {
	usageTotals usageBy[usageSpan, domain.UsageTotals]
	usageSeries usageBy[seriesAsked, []domain.UsagePoint]
	usageShares usageBy[sharesAsked, []domain.UsageShare]
	usageTop    usageBy[topAsked, []domain.SubscriberUsage]

	usageProtocols   usageBy[usageSpan, []domain.ProtocolHour]
	usageSubscribers usageBy[usageSpan, []domain.SubscriberUsage]
	usageAddresses   usageBy[usageSpan, []domain.AddressUsage]
	// sources has one object.
	sources relation[struct{}, []*domain.UsageSource]
}

func newUsageRelations(g *Graph, scope domain.Scope) usageRelations {
	return usageRelations{
		usageTotals: usageBy[usageSpan, domain.UsageTotals]{load: func(ctx context.Context, of []domain.Subject, asked usageSpan) (map[domain.Subject]domain.UsageTotals, error) {
			return g.Analytics.Totals(ctx, scope, of, asked.hours())
		}},
		usageSeries: usageBy[seriesAsked, []domain.UsagePoint]{load: func(ctx context.Context, of []domain.Subject, asked seriesAsked) (map[domain.Subject][]domain.UsagePoint, error) {
			return g.series(ctx, scope, of, asked)
		}},
		usageShares: usageBy[sharesAsked, []domain.UsageShare]{load: func(ctx context.Context, of []domain.Subject, asked sharesAsked) (map[domain.Subject][]domain.UsageShare, error) {
			return g.Analytics.Breakdown(ctx, scope, of, asked.hours(), asked.by, asked.first)
		}},
		usageTop: usageBy[topAsked, []domain.SubscriberUsage]{load: func(ctx context.Context, of []domain.Subject, asked topAsked) (map[domain.Subject][]domain.SubscriberUsage, error) {
			return g.Analytics.Top(ctx, scope, of, asked.hours(), asked.first)
		}},
		usageProtocols:   gathered(scope, g.Analytics.ProtocolHours),
		usageSubscribers: gathered(scope, g.Analytics.Subscribers),
		usageAddresses:   gathered(scope, g.Analytics.Addresses),
		sources: newRelation(func(ctx context.Context, _ []struct{}) (map[struct{}][]*domain.UsageSource, error) {
			sources, err := g.Ports.Usage.Sources(ctx, scope)
			return map[struct{}][]*domain.UsageSource{{}: sources}, err
		}),
	}
}

// gathered gathers a list of Analytics by its subjects.
func gathered[T any](
	scope domain.Scope, list func(context.Context, domain.Scope, []domain.Subject, domain.Range, func(domain.Subject, T) error) error,
) usageBy[usageSpan, []T] {
	return usageBy[usageSpan, []T]{load: func(ctx context.Context, of []domain.Subject, asked usageSpan) (map[domain.Subject][]T, error) {
		entries := make(map[domain.Subject][]T, len(of))
		err := list(ctx, scope, of, asked.hours(), func(subject domain.Subject, entry T) error {
			entries[subject] = append(entries[subject], entry)
			return nil
		})
		return entries, err
	}}
}

// series loads the series of subjects. Zeros are filled in here, where it shows
// how many points all of them have.
func (g *Graph) series(ctx context.Context, scope domain.Scope, of []domain.Subject, asked seriesAsked) (map[domain.Subject][]domain.UsagePoint, error) {
	interval, err := domain.NewInterval(asked.unit, asked.zone)
	if err != nil {
		return nil, err
	}
	if asked.zeroFill {
		if err := interval.CheckAll(asked.hours(), len(of)); err != nil {
			return nil, err
		}
	}
	series, err := g.Analytics.Series(ctx, scope, of, asked.hours(), interval, domain.AllMeasures)
	if err != nil || !asked.zeroFill {
		return series, err
	}
	filled := make(map[domain.Subject][]domain.UsagePoint, len(of))
	for _, subject := range of {
		if filled[subject], err = interval.Fill(series[subject], asked.hours()); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

func (u *usageRelations) usageSources(ctx context.Context) ([]*domain.UsageSource, error) {
	return u.sources.of(ctx, struct{}{})
}

func (u *usageRelations) clear() {
	for _, r := range []interface{ clear() }{
		&u.usageTotals, &u.usageSeries, &u.usageShares, &u.usageTop, &u.usageProtocols, &u.usageSubscribers, &u.usageAddresses, &u.sources,
	} {
		r.clear()
	}
}
