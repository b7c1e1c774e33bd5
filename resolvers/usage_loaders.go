package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

// usageKey asks for the usage of a subject in a span of hours.
type usageKey struct {
	of         domain.Subject
	start, end int64
}

func newUsageKey(u *model.Usage) usageKey {
	return usageKey{u.Of, u.Span.Start.Unix(), u.Span.End.Unix()}
}

func (k usageKey) subject() domain.Subject { return k.of }

func (k usageKey) span() domain.Range {
	return domain.Range{Start: time.Unix(k.start, 0).UTC(), End: time.Unix(k.end, 0).UTC(), Offset: time.UTC}
}

// The keys of what may be asked of usage.
type (
	seriesKey struct {
		usageKey
		unit     domain.Unit
		zone     string
		zeroFill bool
	}
	sharesKey struct {
		usageKey
		by    domain.Dimension
		first int
	}
	topKey struct {
		usageKey
		first int
	}
)

// newSeriesKey asks for a series in the time zone, or else in the company's.
func newSeriesKey(caller *domain.Caller, of *model.Usage, unit domain.Unit, timeZone *string, zeroFill bool) (seriesKey, error) {
	interval := domain.Interval{Unit: unit, Zone: caller.Company.Billing().Zone}
	if timeZone != nil {
		var err error
		if interval, err = domain.NewInterval(unit, *timeZone); err != nil {
			return seriesKey{}, err
		}
	}
	return seriesKey{newUsageKey(of), unit, interval.Zone.String(), zeroFill}, interval.Check(of.Span)
}

// newHoursKey asks for the hours that have anything: as many as the span has,
// since the documented shapes have no other bound.
func newHoursKey(of *model.Usage) seriesKey {
	return seriesKey{usageKey: newUsageKey(of), unit: domain.Hourly, zone: "UTC"}
}

func (k seriesKey) on(of domain.Subject) seriesKey { k.of = of; return k }
func (k sharesKey) on(of domain.Subject) sharesKey { k.of = of; return k }
func (k topKey) on(of domain.Subject) topKey       { k.of = of; return k }
func (k usageKey) on(of domain.Subject) usageKey   { k.of = of; return k }

// asksOfUsage is a key of what may be asked of usage.
type asksOfUsage[K any] interface {
	comparable
	subject() domain.Subject
	on(of domain.Subject) K
}

// eachUsage runs one statement for all subjects of a kind of which the same is
// asked in the same span.
func eachUsage[K asksOfUsage[K], V any](load func(context.Context, []domain.Subject, K) (map[domain.Subject]V, error)) loadInto[K, V] {
	split := func(key K) (K, domain.Subject) {
		of := key.subject()
		return key.on(domain.Subject{Kind: of.Kind}), of
	}
	return eachAlike(split, K.on, load)
}

// usageRelations are the relations of usage.
type usageRelations struct {
	usageTotals *relation[usageKey, domain.UsageTotals]
	usageSeries *relation[seriesKey, []domain.UsagePoint]
	usageShares *relation[sharesKey, []domain.UsageShare]
	usageTop    *relation[topKey, []domain.SubscriberUsage]

	usageProtocols   *relation[usageKey, []domain.ProtocolHour]
	usageSubscribers *relation[usageKey, []domain.SubscriberUsage]
	usageAddresses   *relation[usageKey, []domain.AddressUsage]
	// sources has one key.
	sources *relation[struct{}, []*domain.UsageSource]
}

func newUsageRelations(g *Graph, scope domain.Scope) usageRelations {
	return usageRelations{
		usageTotals: newRelation(eachUsage(func(ctx context.Context, of []domain.Subject, k usageKey) (map[domain.Subject]domain.UsageTotals, error) {
			return g.Analytics.Totals(ctx, scope, of, k.span())
		})),
		usageSeries: newRelation(eachUsage(func(ctx context.Context, of []domain.Subject, k seriesKey) (map[domain.Subject][]domain.UsagePoint, error) {
			return g.series(ctx, scope, of, k)
		})),
		usageShares: newRelation(eachUsage(func(ctx context.Context, of []domain.Subject, k sharesKey) (map[domain.Subject][]domain.UsageShare, error) {
			return g.Analytics.Breakdown(ctx, scope, of, k.span(), k.by, k.first)
		})),
		usageTop: newRelation(eachUsage(func(ctx context.Context, of []domain.Subject, k topKey) (map[domain.Subject][]domain.SubscriberUsage, error) {
			return g.Analytics.Top(ctx, scope, of, k.span(), k.first)
		})),
		usageProtocols:   newListRelation(scope, g.Analytics.ProtocolHours),
		usageSubscribers: newListRelation(scope, g.Analytics.Subscribers),
		usageAddresses:   newListRelation(scope, g.Analytics.Addresses),
		sources: newRelation(func(ctx context.Context, _ []struct{}, into map[struct{}][]*domain.UsageSource) (err error) {
			into[struct{}{}], err = g.Ports.Usage.Sources(ctx, scope)
			return err
		}),
	}
}

// newListRelation gathers a list of Analytics by its subjects.
func newListRelation[T any](
	scope domain.Scope, list func(context.Context, domain.Scope, []domain.Subject, domain.Range, func(domain.Subject, T) error) error,
) *relation[usageKey, []T] {
	return newRelation(eachUsage(func(ctx context.Context, of []domain.Subject, k usageKey) (map[domain.Subject][]T, error) {
		entries := make(map[domain.Subject][]T, len(of))
		err := list(ctx, scope, of, k.span(), func(subject domain.Subject, entry T) error {
			entries[subject] = append(entries[subject], entry)
			return nil
		})
		return entries, err
	}))
}

// series loads the series of subjects. Zeros are filled in here, where it shows
// how many points all of them have.
func (g *Graph) series(ctx context.Context, scope domain.Scope, of []domain.Subject, k seriesKey) (map[domain.Subject][]domain.UsagePoint, error) {
	interval, err := domain.NewInterval(k.unit, k.zone)
	if err != nil {
		return nil, err
	}
	if k.zeroFill {
		if err := interval.CheckAll(k.span(), len(of)); err != nil {
			return nil, err
		}
	}
	series, err := g.Analytics.Series(ctx, scope, of, k.span(), interval)
	if err != nil || !k.zeroFill {
		return series, err
	}
	filled := make(map[domain.Subject][]domain.UsagePoint, len(of))
	for _, subject := range of {
		if filled[subject], err = interval.Fill(series[subject], k.span()); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

func (u usageRelations) usageSources(ctx context.Context) ([]*domain.UsageSource, error) {
	return u.sources.of(ctx, struct{}{})
}

func (u usageRelations) clear() {
	for _, r := range []interface{ clear() }{
		u.usageTotals, u.usageSeries, u.usageShares, u.usageTop, u.usageProtocols, u.usageSubscribers, u.usageAddresses, u.sources,
	} {
		r.clear()
	}
}
