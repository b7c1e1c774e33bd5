package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Subscriber(ctx context.Context, by input.SubscriberKey) (*domain.Subscriber, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	physicalID, known := naturalKey("Subscriber", by.ID, by.PhysicalID)
	if !known {
		return nil, nil
	}
	if err := domain.CheckPhysicalID(physicalID); err != nil {
		return nil, err
	}
	return orNull(q.Ports.Subscribers.Find(ctx, scope, physicalID, q.projection(ctx)))
}

func (q queryResolver) Subscribers(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := q.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Subscribers.List, q.Ports.Subscribers.Count)
}

func (q queryResolver) SubscriberList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.SubscriberList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.SubscriberFields)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, q.subscriberPage(ctx, expr, order, page), q.Ports.Subscribers.List, q.Ports.Subscribers.Count)
}

// subscriberListing reads the arguments of a connection of subscribers.
func (g *Graph) subscriberListing(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (domain.Listing, error) {
	listing, err := listingOf(domain.SubscriberFields, first, after, last, before, filter, orderBy)
	return g.subscriberPage(ctx, listing.Filter, listing.Order, listing.Page), err
}

// subscriberArguments reads the same arguments by their names.
func subscriberArguments[O any](ctx context.Context, _ O, args arguments) (*domain.Listing, error) {
	l := loadersFrom(ctx)
	listing, err := l.graph.subscriberListing(ctx, argument[*int32](args, "first"), argument[*string](args, "after"),
		argument[*int32](args, "last"), argument[*string](args, "before"),
		argument[map[string]any](args, "filter"), argument[[]map[string]any](args, "orderBy"))
	return l.listing(listing), err
}

func (s subscriberResolver) ID(_ context.Context, of *domain.Subscriber) (string, error) {
	return globalID("Subscriber", of.PhysicalID), nil
}

func (s subscriberResolver) Operator(_ context.Context, of *domain.Subscriber) (*domain.Operator, error) {
	return &domain.Operator{Code: of.OperatorCode, Name: of.OperatorName}, nil
}

func (s subscriberResolver) Tariff(ctx context.Context, of *domain.Subscriber) (*domain.Tariff, error) {
	return tariffOfSubscriber.of(ctx, of)
}

func (s subscriberResolver) Group(ctx context.Context, of *domain.Subscriber) (*domain.Group, error) {
	return groupOfSubscriber.of(ctx, of)
}

func (s subscriberResolver) NetworkState(_ context.Context, of *domain.Subscriber) (*model.NetworkState, error) {
	return &model.NetworkState{IsTransferring: of.IsTransferring, IsOnline: of.IsOnline}, nil
}

func (s subscriberResolver) Parent(_ context.Context, of *domain.Subscriber) (*model.ParentLink, error) {
	return parentLink(of), nil
}

func parentLink(of *domain.Subscriber) *model.ParentLink {
	if of.ParentKey == nil {
		return nil
	}
	return &model.ParentLink{PhysicalID: *of.ParentPhysicalID, IsEnabledOnParent: *of.IsEnabledOnParent, Key: *of.ParentKey}
}

func (s subscriberResolver) Profiles(ctx context.Context, of *domain.Subscriber) ([]*domain.Subscriber, error) {
	return items(profilesOfSubscriber.of(ctx, of))
}

func (s subscriberResolver) Related(ctx context.Context, of *domain.Subscriber) (*model.RelatedItems, error) {
	profiles, err := relatedOfSubscriber.of(ctx, of)
	related := &model.RelatedItems{Parent: parentLink(of), Profiles: profiles}
	if related.Parent == nil && len(profiles) == 0 {
		return nil, err
	}
	return related, err
}

func (s subscriberResolver) Tags(ctx context.Context, of *domain.Subscriber, limit, offset *int32) ([]domain.TagName, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return items(tagsOfSubscriber.with(ctx, of, page))
}

func (s subscriberResolver) NumberOfTags(ctx context.Context, of *domain.Subscriber) (*int32, error) {
	return number(tagNumberOfSubscriber.of(ctx, of))
}

func (p parentLinkResolver) Subscriber(ctx context.Context, of *model.ParentLink) (*domain.Subscriber, error) {
	return subscriberOfParent.of(ctx, of)
}

func (s subscriberResolver) DataUsage(ctx context.Context, of *domain.Subscriber) (*int64, error) {
	return present(dataUsageOfSubscriber.of(ctx, of))
}
