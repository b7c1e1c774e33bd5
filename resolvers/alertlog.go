package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/silence"
	"simgraph/graph/model"
)

func (q queryResolver) AlertLog(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertLogConnection, error) {
	listing, err := listingOf(domain.AlertLogFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.AlertLog.List, q.Ports.AlertLog.Count)
}

func (q queryResolver) AlertLogList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.AlertLogList, error) {
	page, err := logPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.VolumeLogFields)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Filter: expr, Order: order, Page: page}, q.Ports.VolumeLog.List, q.Ports.VolumeLog.Count)
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

func (e volumeLogEntryResolver) ID(_ context.Context, of *domain.VolumeLogEntry) (string, error) {
	return globalID("VolumeLogEntry", formatID(of.EntryID)), nil
}

func (e volumeLogEntryResolver) Alert(ctx context.Context, of *domain.VolumeLogEntry) (*domain.VolumeAlert, error) {
	return alertOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Subscriber(ctx context.Context, of *domain.VolumeLogEntry) (*domain.Subscriber, error) {
	return subscriberOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Group(ctx context.Context, of *domain.VolumeLogEntry) (*domain.Group, error) {
	return groupOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) IsNotified(_ context.Context, of *domain.VolumeLogEntry) (bool, error) {
	return of.NotificationID != nil, nil
}

func (e volumeLogEntryResolver) Silence(ctx context.Context, of *domain.VolumeLogEntry) (*silence.Silence, error) {
	return silenceOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Deliveries(ctx context.Context, of *domain.VolumeLogEntry) ([]*domain.AlertDelivery, error) {
	return items(deliveriesOfEntry.of(ctx, of))
}
