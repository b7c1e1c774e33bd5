package resolvers

import (
	"context"
	"slices"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
	"simgraph/graph/plan"
)

// usageSpan is a span of hours of subjects of one kind.
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

// The arguments of sources of usage beside the span.
type (
	seriesArgs struct {
		usageSpan
		unit     domain.Unit
		zone     string
		zeroFill bool
	}
	sharesArgs struct {
		usageSpan
		by    domain.Dimension
		first int
	}
	partsArgs struct {
		seriesArgs
		by    domain.Dimension
		first int
	}
	topArgs struct {
		usageSpan
		first int
	}
	changeArgs struct {
		topArgs
		before usageSpan
		order  domain.ChangeOrder
	}
	statisticsArgs struct {
		usageSpan
		above int64
	}
)

// newSeriesArgs returns those of a series in the time zone, or else in the
// company's.
func newSeriesArgs(ctx context.Context, of *model.Usage, unit domain.Unit, timeZone *string, zeroFill bool) (seriesArgs, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return seriesArgs{}, err
	}
	interval := domain.Interval{Unit: unit, Zone: caller.Company.Billing().Zone}
	if timeZone != nil {
		if interval, err = domain.NewInterval(unit, *timeZone); err != nil {
			return seriesArgs{}, err
		}
	}
	return seriesArgs{spanOf(of), unit, interval.Zone.String(), zeroFill}, interval.Check(of.Span)
}

func newSharesArgs(of *model.Usage, by domain.Dimension, first int32) (sharesArgs, error) {
	return sharesArgs{spanOf(of), by, int(first)}, checkFirst(first)
}

func newPartsArgs(
	ctx context.Context, of *model.Usage, by domain.Dimension, unit domain.Unit, timeZone *string, first int32, zeroFill bool,
) (partsArgs, error) {
	if err := checkFirst(first); err != nil {
		return partsArgs{}, err
	}
	series, err := newSeriesArgs(ctx, of, unit, timeZone, zeroFill)
	return partsArgs{series, by, int(first)}, err
}

func newTopArgs(of *model.Usage, first int32) (topArgs, error) {
	return topArgs{spanOf(of), int(first)}, checkFirst(first)
}

func newChangeArgs(
	ctx context.Context, of *model.Usage, first int32, order domain.ChangeOrder, start *time.Time, align domain.Alignment,
) (changeArgs, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return changeArgs{}, err
	}
	var before *model.Usage
	if start == nil {
		before, err = previousUsage(caller, of)
	} else {
		before, err = comparedUsage(caller, of, *start, align)
	}
	if err != nil {
		return changeArgs{}, err
	}
	return changeArgs{topArgs{spanOf(of), int(first)}, spanOf(before), order}, checkFirst(first)
}

func checkFirst(first int32) error {
	if first < 1 || first > domain.MaxShares {
		return domain.Invalid("first", "first must be 1 to %d, not %d", domain.MaxShares, first)
	}
	return nil
}

func spanArguments(_ context.Context, of *model.Usage, _ arguments) (usageSpan, error) {
	return spanOf(of), nil
}

// hoursArguments are for the hours that have anything: as many as the span has,
// since the documented shapes have no other bound.
func hoursArguments(_ context.Context, of *model.Usage, _ arguments) (seriesArgs, error) {
	return seriesArgs{usageSpan: spanOf(of), unit: domain.Hourly, zone: "UTC"}, nil
}

func seriesArguments(ctx context.Context, of *model.Usage, args arguments) (seriesArgs, error) {
	return newSeriesArgs(ctx, of, argument[domain.Unit](args, "interval"), argument[*string](args, "timeZone"), argument[bool](args, "zeroFill"))
}

func sharesArguments(_ context.Context, of *model.Usage, args arguments) (sharesArgs, error) {
	return newSharesArgs(of, argument[domain.Dimension](args, "by"), argument[int32](args, "first"))
}

func partsArguments(ctx context.Context, of *model.Usage, args arguments) (partsArgs, error) {
	return newPartsArgs(ctx, of, argument[domain.Dimension](args, "by"), argument[domain.Unit](args, "interval"), argument[*string](args, "timeZone"),
		argument[int32](args, "first"), argument[bool](args, "zeroFill"))
}

func statisticsArguments(_ context.Context, of *model.Usage, args arguments) (statisticsArgs, error) {
	return statisticsArgs{spanOf(of), argument[int64](args, "above")}, nil
}

func topArguments(_ context.Context, of *model.Usage, args arguments) (topArgs, error) {
	return newTopArgs(of, argument[int32](args, "first"))
}

func changeArguments(ctx context.Context, of *model.Usage, args arguments) (changeArgs, error) {
	return newChangeArgs(ctx, of, argument[int32](args, "first"), argument[domain.ChangeOrder](args, "order"), argument[*time.Time](args, "start"),
		argument[domain.Alignment](args, "align"))
}

// What relations of usage load.
var (
	usageTotals = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, span usageSpan) (map[domain.Subject]domain.UsageTotals, error) {
		measures := domain.Volumes
		if plan.Needs(ctx)&needTotalSessions != 0 {
			measures |= domain.SessionCounts
		}
		return l.graph.Analytics.Totals(ctx, l.scope, of, span.hours(), measures)
	})
	usageSeries = loadingBy(loadSeries)
	usageShares = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, args sharesArgs) (map[domain.Subject][]domain.UsageShare, error) {
		return l.graph.Analytics.Breakdown(ctx, l.scope, of, args.hours(), args.by, args.first)
	})
	usageParts = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, args partsArgs) (map[domain.Subject][]domain.UsageSeries, error) {
		interval, err := domain.NewInterval(args.unit, args.zone)
		if err != nil {
			return nil, err
		}
		return l.graph.Analytics.SeriesBy(ctx, l.scope, of, args.hours(), interval, args.by, args.first)
	})
	usageStatistics = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, args statisticsArgs) (map[domain.Subject]domain.SubscriberStatistics, error) {
		return l.graph.Analytics.Statistics(ctx, l.scope, of, args.hours(), args.above)
	})
	usageTop = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, args topArgs) (map[domain.Subject][]domain.SubscriberUsage, error) {
		return l.graph.Analytics.Top(ctx, l.scope, of, args.hours(), args.first)
	})
	usageChanges = loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, args changeArgs) (map[domain.Subject][]domain.UsageChange, error) {
		return l.graph.Analytics.Changes(ctx, l.scope, of, args.hours(), args.before.hours(), args.order, args.first)
	})
	usageProtocols   = gathering(func(g *Graph) gather[domain.ProtocolHour] { return g.Analytics.ProtocolHours })
	usageSubscribers = gathering(func(g *Graph) gather[domain.SubscriberUsage] { return g.Analytics.Subscribers })
	usageAddresses   = gathering(func(g *Graph) gather[domain.AddressUsage] { return g.Analytics.Addresses })
	usageSources     = loadingBy(func(ctx context.Context, l *loaders, _ []none, _ none) (map[none][]*domain.UsageSource, error) {
		sources, err := l.graph.Ports.Usage.Sources(ctx, l.scope)
		return map[none][]*domain.UsageSource{{}: sources}, err
	})
)

// gather is a method of Analytics that calls each for every entry of a list.
type gather[T any] = func(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, T) error) error

// gathering returns a source of lists by their subjects.
func gathering[T any](method func(*Graph) gather[T]) *source[usageSpan, domain.Subject, []T] {
	return loadingBy(func(ctx context.Context, l *loaders, of []domain.Subject, span usageSpan) (map[domain.Subject][]T, error) {
		entries := make(map[domain.Subject][]T, len(of))
		err := method(l.graph)(ctx, l.scope, of, span.hours(), func(subject domain.Subject, entry T) error {
			entries[subject] = append(entries[subject], entry)
			return nil
		})
		return entries, err
	})
}

// loadSeries loads the series of subjects, without zeros. How many points all of
// them have with zeros shows here.
func loadSeries(ctx context.Context, l *loaders, of []domain.Subject, args seriesArgs) (map[domain.Subject][]domain.UsagePoint, error) {
	interval, err := domain.NewInterval(args.unit, args.zone)
	if err != nil {
		return nil, err
	}
	if args.zeroFill {
		if err := interval.CheckAll(args.hours(), len(of)); err != nil {
			return nil, err
		}
	}
	measures := domain.AllMeasures
	if plan.Needs(ctx)&needSessions == 0 {
		measures = domain.Volumes // a step without volume is filled in
		if !args.zeroFill {
			measures |= domain.SessionSteps
		}
	}
	return l.graph.Analytics.Series(ctx, l.scope, of, args.hours(), interval, measures)
}

// filledRelation is a relation of series, of which zeros need to know up to when
// usage is known.
type filledRelation[A comparable, V any] struct {
	*relation[*model.Usage, A, domain.Subject, V]
}

func relateSeries[A comparable, V any](
	f field, from *source[A, domain.Subject, V], args func(context.Context, *model.Usage, arguments) (A, error),
) filledRelation[A, V] {
	r := filledRelation[A, V]{&relation[*model.Usage, A, domain.Subject, V]{source: from, key: subjectOf, args: args}}
	relations = append(relations, related{f, r})
	return r
}

// Queue implements plan.Relation.
func (r filledRelation[A, V]) Queue(ctx context.Context, level *plan.Level, objects []any, given map[string]any) {
	r.relation.Queue(ctx, level, objects, given)
	if argument[bool](given, "zeroFill") {
		usageSources.in(ctx).queue(ctx, level, none{}, []none{{}})
	}
}

// filledSeries returns the series of an object, with zeros where they are wanted.
func filledSeries(ctx context.Context, of *model.Usage, args seriesArgs) ([]domain.UsagePoint, error) {
	points, err := seriesOfUsage.with(ctx, of, args)
	if err != nil || !args.zeroFill {
		return points, err
	}
	known, err := knownUntil(ctx, of)
	if err != nil {
		return nil, err
	}
	return args.fill(points, known)
}

// filledParts is filledSeries for several series, which get the same steps.
func filledParts(ctx context.Context, of *model.Usage, args partsArgs) ([]domain.UsageSeries, error) {
	parts, err := partsOfUsage.with(ctx, of, args)
	if err != nil || !args.zeroFill {
		return parts, err
	}
	known, err := knownUntil(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		known = domain.Later(known, part.Points[len(part.Points)-1].Start.Add(1))
	}
	filled := slices.Clone(parts) // those of the loader are for other fields, too
	for i := range filled {
		if filled[i].Points, err = args.fill(parts[i].Points, known); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

// knownUntil is up to when usage is known; zero for never.
func knownUntil(ctx context.Context, of *model.Usage) (known time.Time, err error) {
	sources, err := sourcesOfUsage.of(ctx, of)
	if until := completeUntil(sources); until != nil {
		known = *until
	}
	return known, err
}

func (a seriesArgs) fill(points []domain.UsagePoint, known time.Time) ([]domain.UsagePoint, error) {
	interval, err := domain.NewInterval(a.unit, a.zone)
	if err != nil {
		return nil, err
	}
	return interval.Fill(points, a.hours(), known)
}
