package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryRoot) AlertLog(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertLogConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	expr, err := filterOf(filter, domain.AlertLogFields)
	if err != nil {
		return nil, err
	}
	order, err := ordersOf(orderBy, domain.AlertLogFields)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listAlertLog(ctx, domain.Listing{Filter: expr, Order: order, Page: page})
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfAlertLog(ctx, selected(ctx).nodes(), slice.Items)
	return connection(slice, total), nil
}

func (q queryRoot) AlertLogList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.AlertLogList, error) {
	page, err := logPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.AlertLogFields)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listAlertLog(ctx, domain.Listing{Filter: expr, Order: order, Page: page})
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfAlertLog(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

// logPage is offsetPage for the list that has no paging in the spec: without a
// limit it is as long as a list may be.
func logPage(limit, offset *int32) (domain.Page, error) {
	page, err := offsetPage(limit, offset)
	page.Limit = domain.MaxLogList
	if limit != nil && *limit > 0 {
		page.Limit = min(int(*limit), domain.MaxLogList)
	}
	return page, err
}

func (g *Graph) listAlertLog(ctx context.Context, listing domain.Listing) (domain.Slice[*domain.AlertLogEntry], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[*domain.AlertLogEntry]{}, nil, err
	}
	slice, err := g.Ports.AlertLog.List(ctx, scope, listing)
	total := func(ctx context.Context) (int, error) { return g.Ports.AlertLog.Count(ctx, scope, listing) }
	return slice, total, err
}

func (e alertLogEntryOf) ID(_ context.Context, of *domain.AlertLogEntry) (string, error) {
	return globalID("AlertLogEntry", formatID(of.EntryID)), nil
}

func (e alertLogEntryOf) Alert(ctx context.Context, of *domain.AlertLogEntry) (*domain.Alert, error) {
	return loadersFrom(ctx).alert.of(ctx, of.AlertID)
}

func (e alertLogEntryOf) Subscriber(ctx context.Context, of *domain.AlertLogEntry) (*domain.Subscriber, error) {
	return subscriberOfKey(ctx, of.SubscriberKey)
}

func (e alertLogEntryOf) Group(ctx context.Context, of *domain.AlertLogEntry) (*domain.Group, error) {
	return groupOfID(ctx, of.TargetGroupID)
}

func (e alertLogEntryOf) IsNotified(_ context.Context, of *domain.AlertLogEntry) (bool, error) {
	return of.NotificationID != nil, nil
}

func (e alertLogEntryOf) Deliveries(ctx context.Context, of *domain.AlertLogEntry) ([]*domain.AlertDelivery, error) {
	if of.NotificationID == nil {
		return nil, nil
	}
	return loadersFrom(ctx).deliveries.of(ctx, *of.NotificationID)
}

func (d alertDeliveryOf) Recipient(ctx context.Context, of *domain.AlertDelivery) (*domain.Recipient, error) {
	return loadersFrom(ctx).recipient.of(ctx, of.RecipientID)
}

// aheadOfAlertLog loads the selected relations of all the entries.
func (l *loaders) aheadOfAlertLog(ctx context.Context, s selection, of []*domain.AlertLogEntry) {
	if len(of) == 0 || s.empty() {
		return
	}
	l.aheadOfSubjects(ctx, s, present(of, func(e *domain.AlertLogEntry) *int64 { return e.SubscriberKey }),
		present(of, func(e *domain.AlertLogEntry) *int64 { return e.TargetGroupID }))
	if below := s.below("alert"); !below.empty() {
		alerts := l.alert.aheadValues(ctx, each(of, func(e *domain.AlertLogEntry) int64 { return e.AlertID }))
		l.aheadOfAlerts(ctx, below, found(alerts))
	}
	if s.has("deliveries") {
		l.deliveries.ahead(ctx, present(of, func(e *domain.AlertLogEntry) *string { return e.NotificationID }))
	}
}
