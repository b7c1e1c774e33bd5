package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryRoot) Subscriber(ctx context.Context, physicalID string) (*domain.Subscriber, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := domain.CheckPhysicalID(physicalID); err != nil {
		return nil, err
	}
	found, err := q.Ports.Subscribers.Find(ctx, scope, physicalID, wanted(ctx))
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfSubscribers(ctx, selected(ctx), []*domain.Subscriber{found})
	return found, nil
}

func (q queryRoot) Subscribers(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := q.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listSubscribers(ctx, listing)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfSubscribers(ctx, selected(ctx).nodes(), slice.Items)
	return connection(slice, total), nil
}

func (q queryRoot) SubscriberList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.SubscriberList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.SubscriberFields)
	if err != nil {
		return nil, err
	}
	listing := domain.Listing{Filter: expr, Order: order, Page: page, PeriodStart: q.periodStart(ctx), Wanted: wanted(ctx)}
	slice, total, err := q.listSubscribers(ctx, listing)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfSubscribers(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

// subscriberListing reads the arguments of a connection of subscribers.
func (g *Graph) subscriberListing(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (domain.Listing, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return domain.Listing{}, err
	}
	expr, err := filterOf(filter, domain.SubscriberFields)
	if err != nil {
		return domain.Listing{}, err
	}
	order, err := ordersOf(orderBy, domain.SubscriberFields)
	return domain.Listing{Filter: expr, Order: order, Page: page, PeriodStart: g.periodStart(ctx), Wanted: wanted(ctx)}, err
}

func (g *Graph) listSubscribers(ctx context.Context, listing domain.Listing) (domain.Slice[*domain.Subscriber], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[*domain.Subscriber]{}, nil, err
	}
	slice, err := g.Ports.Subscribers.List(ctx, scope, listing)
	total := func(ctx context.Context) (int, error) { return g.Ports.Subscribers.Count(ctx, scope, listing) }
	return slice, total, err
}

func (m mutation) EditSubscriber(ctx context.Context, in input.EditSubscriberInput) (*model.EditSubscriberPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := domain.CheckPhysicalID(in.PhysicalID); err != nil {
		return nil, err
	}
	if err := domain.CheckNickname(in.Nickname); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Subscribers.EditNickname(ctx, scope, in.PhysicalID, in.Nickname)
	return &model.EditSubscriberPayload{Subscriber: edited}, err
}

func (s subscriberOf) ID(_ context.Context, of *domain.Subscriber) (string, error) {
	return globalID("Subscriber", of.PhysicalID), nil
}

func (s subscriberOf) Operator(ctx context.Context, of *domain.Subscriber) (*domain.Operator, error) {
	return loadersFrom(ctx).operator.of(ctx, of.OperatorCode)
}

func (s subscriberOf) Tariff(ctx context.Context, of *domain.Subscriber) (*domain.Tariff, error) {
	if of.TariffName == nil {
		return nil, nil
	}
	return loadersFrom(ctx).tariff.of(ctx, *of.TariffName)
}

func (s subscriberOf) Group(ctx context.Context, of *domain.Subscriber) (*domain.Group, error) {
	if of.GroupID == nil {
		return nil, nil
	}
	return loadersFrom(ctx).group.of(ctx, *of.GroupID)
}

func (s subscriberOf) NetworkState(_ context.Context, of *domain.Subscriber) (*model.NetworkState, error) {
	return &model.NetworkState{IsTransferring: of.IsTransferring, IsOnline: of.IsOnline}, nil
}

func (s subscriberOf) Parent(_ context.Context, of *domain.Subscriber) (*model.ParentLink, error) {
	return parentLink(of), nil
}

func parentLink(of *domain.Subscriber) *model.ParentLink {
	if of.ParentKey == nil {
		return nil
	}
	return &model.ParentLink{PhysicalID: *of.ParentPhysicalID, IsEnabledOnParent: *of.IsEnabledOnParent, Key: *of.ParentKey}
}

func (s subscriberOf) Profiles(ctx context.Context, of *domain.Subscriber) ([]*domain.Subscriber, error) {
	if of.HasNoProfiles {
		return nil, nil
	}
	return loadersFrom(ctx).profiles.of(ctx, of.Key)
}

func (s subscriberOf) Related(ctx context.Context, of *domain.Subscriber) (*model.RelatedItems, error) {
	profiles, err := s.Profiles(ctx, of)
	related := &model.RelatedItems{Parent: parentLink(of), Profiles: profiles}
	if related.Parent == nil && len(profiles) == 0 {
		return nil, err
	}
	return related, err
}

func (s subscriberOf) Tags(ctx context.Context, of *domain.Subscriber, limit, offset *int32) ([]domain.TagName, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return loadersFrom(ctx).tags.of(ctx, page, of.Key)
}

func (s subscriberOf) NumberOfTags(ctx context.Context, of *domain.Subscriber) (int32, error) {
	n, err := loadersFrom(ctx).tagNumber.of(ctx, of.Key)
	return int32(n), err
}

func (p parentOf) Subscriber(ctx context.Context, of *model.ParentLink) (*domain.Subscriber, error) {
	return loadersFrom(ctx).subscriber.of(ctx, of.Key)
}

func (s subscriberOf) DataUsage(ctx context.Context, of *domain.Subscriber) (int64, error) {
	return loadersFrom(ctx).dataUsage.of(ctx, of.Key)
}
