package resolvers

import (
	"cmp"
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

// maxRecorded bounds the records of one mutation; more go over POST /usage/records.
const maxRecorded = 1000

// sourceIsSilent is how far behind the others a source may be before it counts
// as gone.
const sourceIsSilent = 7 * 24 * time.Hour

func (c companyResolver) Usage(ctx context.Context, _ *domain.Company, start, end *time.Time) (*model.Usage, error) {
	return c.usageIn(ctx, domain.Subject{Kind: domain.CompanySubject}, start, end)
}

func (g groupResolver) Usage(ctx context.Context, of *domain.Group, start, end *time.Time) (*model.Usage, error) {
	return g.usageIn(ctx, domain.Subject{Kind: domain.GroupSubject, ID: of.GroupID}, start, end)
}

func (t tagResolver) Usage(ctx context.Context, of *domain.TagName, start, end *time.Time) (*model.Usage, error) {
	return t.usageIn(ctx, domain.Subject{Kind: domain.TagSubject, Tag: *of}, start, end)
}

func (s subscriberResolver) Usage(ctx context.Context, of *domain.Subscriber, start, end *time.Time) (*model.Usage, error) {
	return s.usageIn(ctx, domain.Subject{Kind: domain.SubscriberSubject, ID: of.Key}, start, end)
}

// usageIn returns the usage of a subject, in the current billing period where
// a bound is missing.
func (g *Graph) usageIn(ctx context.Context, of domain.Subject, start, end *time.Time) (*model.Usage, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if start == nil || end == nil {
		period := caller.Company.Billing().PeriodAt(g.now())
		if start == nil && end == nil {
			return usageOfPeriod(of, period)
		}
		start, end = cmp.Or(start, &period.Start), cmp.Or(end, &period.End)
	}
	span, err := domain.NewRange(*start, *end)
	return &model.Usage{Of: of, Span: span}, err
}

func usageOfPeriod(of domain.Subject, period domain.Period) (*model.Usage, error) {
	span, err := domain.NewRange(period.Start, period.End)
	return &model.Usage{Of: of, Span: span, Period: &period}, err
}

func (u usageResolver) Period(_ context.Context, of *model.Usage) (*domain.Period, error) {
	return &domain.Period{Start: of.Span.Start, End: of.Span.End}, nil
}

func (u usageResolver) Totals(ctx context.Context, of *model.Usage) (*domain.UsageTotals, error) {
	totals, err := totalsOfUsage.of(ctx, of)
	return &totals, err
}

func (u usageResolver) Series(ctx context.Context, of *model.Usage, unit domain.Unit, timeZone *string, zeroFill bool) ([]*domain.UsagePoint, error) {
	args, err := newSeriesArgs(ctx, of, unit, timeZone, zeroFill)
	if err != nil {
		return nil, err
	}
	points, err := filledSeries(ctx, of, args)
	return pointers(points), err
}

func (u usageResolver) Breakdown(ctx context.Context, of *model.Usage, by domain.Dimension, first int32) ([]*domain.UsageShare, error) {
	args, err := newSharesArgs(of, by, first)
	if err != nil {
		return nil, err
	}
	shares, err := sharesOfUsage.with(ctx, of, args)
	return pointers(shares), err
}

func (u usageResolver) SeriesBy(
	ctx context.Context, of *model.Usage, by domain.Dimension, unit domain.Unit, timeZone *string, first int32, zeroFill bool,
) ([]*model.UsageSeries, error) {
	args, err := newPartsArgs(ctx, of, by, unit, timeZone, first, zeroFill)
	if err != nil {
		return nil, err
	}
	parts, err := filledParts(ctx, of, args)
	return each(parts, func(part domain.UsageSeries) *model.UsageSeries { return usageSeriesBy(by, part) }), err
}

func usageSeriesBy(by domain.Dimension, part domain.UsageSeries) *model.UsageSeries {
	sessions := func(total domain.UsageTotals) *int64 {
		if !by.CountsSessions() {
			return nil
		}
		return &total.Sessions
	}
	return &model.UsageSeries{
		Value: part.Value, Label: part.Label, IsOthers: part.IsOthers, Volume: part.Volume, Sessions: sessions(part.UsageTotals),
		Points: each(part.Points, func(p domain.UsagePoint) model.UsageSeriesPoint {
			return model.UsageSeriesPoint{Start: p.Start, Volume: p.Volume, Sessions: sessions(p.UsageTotals)}
		}),
	}
}

func (u usageResolver) PerSubscriber(ctx context.Context, of *model.Usage, above int64) (*domain.SubscriberStatistics, error) {
	if above < 0 {
		return nil, domain.Invalid("above", "above must not be negative, as %d is", above)
	}
	statistics, err := statisticsOfUsage.with(ctx, of, statisticsArgs{spanOf(of), above})
	return &statistics, err
}

func (u usageResolver) TopSubscribers(ctx context.Context, of *model.Usage, first int32) ([]*domain.SubscriberUsage, error) {
	args, err := newTopArgs(of, first)
	if err != nil {
		return nil, err
	}
	top, err := topOfUsage.with(ctx, of, args)
	return pointers(top), err
}

func (u usageResolver) TopChanges(
	ctx context.Context, of *model.Usage, first int32, order domain.ChangeOrder, start *time.Time, align domain.Alignment,
) ([]*domain.UsageChange, error) {
	args, err := newChangeArgs(ctx, of, first, order, start, align)
	if err != nil {
		return nil, err
	}
	changes, err := changesOfUsage.with(ctx, of, args)
	return pointers(changes), err
}

func (u subscriberUsageChangeResolver) Subscriber(ctx context.Context, of *domain.UsageChange) (*domain.Subscriber, error) {
	return subscriberOfChange.of(ctx, of)
}

func (u subscriberUsageResolver) Subscriber(ctx context.Context, of *domain.SubscriberUsage) (*domain.Subscriber, error) {
	return subscriberOfTop.of(ctx, of)
}

func (u usageResolver) Previous(ctx context.Context, of *model.Usage) (*model.Usage, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return previousUsage(caller, of)
}

func previousUsage(caller *domain.Caller, of *model.Usage) (*model.Usage, error) {
	if of.Period == nil {
		return &model.Usage{Of: of.Of, Span: of.Span.Before()}, nil
	}
	return usageOfPeriod(of.Of, caller.Company.Billing().Before(*of.Period))
}

func (u usageResolver) Comparison(ctx context.Context, of *model.Usage, start time.Time, align domain.Alignment) (*model.Usage, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return comparedUsage(caller, of, start, align)
}

func comparedUsage(caller *domain.Caller, of *model.Usage, start time.Time, align domain.Alignment) (*model.Usage, error) {
	billing := caller.Company.Billing()
	if of.Period != nil && align == domain.AlignPeriod {
		return usageOfPeriod(of.Of, billing.PeriodAt(start))
	}
	span, err := billing.Move(of.Span, start, align)
	if err != nil {
		return nil, err
	}
	return &model.Usage{Of: of.Of, Span: span}, nil
}

func (u usageResolver) DataCompleteUntil(ctx context.Context, of *model.Usage) (*time.Time, error) {
	sources, err := sourcesOfUsage.of(ctx, of)
	return completeUntil(sources), err
}

// completeUntil is where the slowest of the sources is that still report.
func completeUntil(sources []*domain.UsageSource) *time.Time {
	var newest time.Time
	for _, s := range sources {
		if s.CompleteUntil.After(newest) {
			newest = s.CompleteUntil
		}
	}
	var least *time.Time
	for _, s := range sources {
		reports := newest.Sub(s.CompleteUntil) <= sourceIsSilent
		if reports && (least == nil || s.CompleteUntil.Before(*least)) {
			least = &s.CompleteUntil
		}
	}
	return least
}

func (c companyResolver) UsageSources(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.UsageSourceConnection, error) {
	return companyPage(ctx, of, sourcesOfCompany, domain.UsageSourceFields, first, after, last, before, filter, orderBy)
}

func (s usageSourceResolver) ID(_ context.Context, of *domain.UsageSource) (string, error) {
	return globalID("UsageSource", of.Source), nil
}

var _ = nodesByText("UsageSource", func(g *Graph) finding[string, *domain.UsageSource] { return g.Ports.Usage.FindSources })

func (m mutationResolver) RecordUsage(ctx context.Context, in input.RecordUsageInput) (*model.RecordUsagePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(in.Records); n < 1 || n > maxRecorded {
		return nil, domain.Invalid("records", "records must be 1 to %d, not %d", maxRecorded, n)
	}
	results := make([]domain.Recorded, len(in.Records))
	var places []int
	var records []domain.UsageRecord
	for i, r := range in.Records {
		record, err := usageRecord(r)
		if err != nil {
			results[i] = domain.Rejected(err)
			continue
		}
		places, records = append(places, i), append(records, record)
	}
	if len(records) > 0 {
		recorded, err := m.Ports.Usage.Record(ctx, scope, records)
		if err != nil {
			return nil, err
		}
		for i, place := range places {
			results[place] = recorded[i]
		}
	}
	return &model.RecordUsagePayload{Results: each(results, recordedUsage)}, nil
}

func usageRecord(in *input.UsageRecordInput) (domain.UsageRecord, error) {
	r := domain.UsageRecord{
		RecordID: given(in.RecordID.Value()), Source: in.Source, Sequence: int(in.Sequence), StartedAt: in.StartedAt, EndedAt: in.EndedAt,
		MobileOriginated: in.MobileOriginated, MobileTerminated: in.MobileTerminated,
	}
	of := domain.UsageFields{
		PhysicalID: given(in.PhysicalID.Value()), IMSI: given(in.Imsi.Value()), MSISDN: given(in.Msisdn.Value()), SubscriberID: given(in.SubscriberID.Value()),
		SessionID: given(in.SessionID.Value()), Cause: given(in.Cause.Value()), APN: given(in.Apn.Value()), RATType: given(in.RatType.Value()),
		IMEI: given(in.Imei.Value()), VisitedNetwork: given(in.VisitedNetwork.Value()), NAS: given(in.Nas.Value()),
		IPAddress: given(in.IPAddress.Value()), Protocol: given(in.Protocol.Value()), Counters: in.Counters,
	}
	if event := in.Event.Value(); event != nil {
		of.Event = *event
	}
	return of.Complete(r)
}

func given(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func recordedUsage(r domain.Recorded) model.RecordedUsage {
	if r.Err == nil {
		return model.RecordedUsage{Status: r.Status}
	}
	recorded := model.RecordedUsage{Status: r.Status, Reason: &r.Err.Message}
	if r.Err.Field != "" {
		recorded.Field = &r.Err.Field
	}
	return recorded
}

func pointers[T any](values []T) []*T {
	all := make([]*T, len(values))
	for i := range values {
		all[i] = &values[i]
	}
	return all
}

func each[T, K any](of []T, key func(T) K) []K {
	keys := make([]K, len(of))
	for i, item := range of {
		keys[i] = key(item)
	}
	return keys
}
