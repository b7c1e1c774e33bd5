package resolvers

import (
	"context"
	"slices"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

// aheadOfUsage loads the selected usage of all the subjects, each relation with
// one statement, unless the caller will be refused it. What has wrong arguments
// is left to the fields, which report it.
func (l *loaders) aheadOfUsage(ctx context.Context, s selection, of []domain.Subject) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || len(of) == 0 || !caller.May(domain.ViewStatisticsOverview) {
		return
	}
	for _, field := range s.fields("usage") {
		args := field.ArgumentMap(s.op.Variables)
		usage, err := l.graph.usageIn(ctx, of[0], timeArgument(args["start"]), timeArgument(args["end"]))
		if err == nil {
			usageAhead{l, caller, of}.load(ctx, s.under(field), usage)
		}
	}
}

// usageAhead loads what is selected of the usage of subjects.
type usageAhead struct {
	*loaders
	caller *domain.Caller
	of     []domain.Subject
}

// load is for the span of the usage, whose subject is any of them.
func (u usageAhead) load(ctx context.Context, s selection, usage *model.Usage) {
	span := spanOf(usage)
	if s.has("totals") {
		u.usageTotals.ahead(ctx, span, u.of)
	}
	u.maps(ctx, s, usage)
	for _, field := range s.fields("series") {
		u.series(ctx, usage, field.ArgumentMap(s.op.Variables))
	}
	for _, field := range s.fields("breakdown") {
		u.shares(ctx, span, field.ArgumentMap(s.op.Variables))
	}
	for _, field := range s.fields("topSubscribers") {
		u.top(ctx, span, s.under(field), field.ArgumentMap(s.op.Variables))
	}
	for _, field := range s.fields("previous") {
		if previous, err := previousUsage(u.caller, usage); err == nil {
			u.load(ctx, s.under(field), previous)
		}
	}
}

// maps loads what the documented shapes are written from.
func (u usageAhead) maps(ctx context.Context, s selection, usage *model.Usage) {
	span := spanOf(usage)
	if s.has("dataUsage") || s.has("sessionCount") {
		u.usageSeries.ahead(ctx, hoursOf(usage), u.of)
	}
	if s.has("dataUsageByNetworkProtocol") {
		u.usageProtocols.ahead(ctx, span, u.of)
	}
	if s.has("dataUsageBySubscriber") {
		u.usageSubscribers.ahead(ctx, span, u.of)
	}
	if s.has("dataUsageByIpAddress") {
		u.usageAddresses.ahead(ctx, span, u.of)
	}
}

func (u usageAhead) series(ctx context.Context, usage *model.Usage, args map[string]any) {
	unit, _ := args["interval"].(string)
	zeroFill, _ := args["zeroFill"].(bool)
	asked, err := newSeriesAsked(u.caller, usage, domain.Unit(unit), textArgument(args["timeZone"]), zeroFill)
	if err == nil {
		u.usageSeries.ahead(ctx, asked, u.of)
	}
}

func (u usageAhead) shares(ctx context.Context, span usageSpan, args map[string]any) {
	by, _ := args["by"].(string)
	if first, err := firstArgument(args); err == nil {
		u.usageShares.ahead(ctx, sharesAsked{span, domain.Dimension(by), first}, u.of)
	}
}

// top loads the subscribers as well, each once for all the subjects.
func (u usageAhead) top(ctx context.Context, span usageSpan, s selection, args map[string]any) {
	first, err := firstArgument(args)
	if err != nil || !u.caller.May(domain.ViewSubscriber) {
		return
	}
	tops := u.usageTop.aheadValues(ctx, topAsked{span, first}, u.of)
	u.aheadOfTop(ctx, s, slices.Concat(tops...))
}

// aheadOfTop loads the selected subscribers of those with the most usage.
func (l *loaders) aheadOfTop(ctx context.Context, s selection, top []domain.SubscriberUsage) {
	if named := s.below("subscriber"); !named.empty() {
		keys := each(top, func(t domain.SubscriberUsage) int64 { return t.SubscriberKey })
		l.aheadOfSubscribers(ctx, named, found(l.subscriber.aheadValues(ctx, keys)))
	}
}

func firstArgument(args map[string]any) (int, error) {
	first, err := intArgument(args["first"])
	if err != nil {
		return 0, err
	}
	if first == nil {
		return 0, checkFirst(0)
	}
	return int(*first), checkFirst(*first)
}

// timeArgument returns nil for what the field itself refuses.
func timeArgument(value any) *time.Time {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &t
}

func subjects[T any](kind domain.SubjectKind, of []T, id func(T) int64) []domain.Subject {
	return each(of, func(item T) domain.Subject { return domain.Subject{Kind: kind, ID: id(item)} })
}
