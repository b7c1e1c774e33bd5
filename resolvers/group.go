package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Group(ctx context.Context, by input.GroupKey) (*domain.Group, error) {
	return lookUp[domain.Group](ctx, q, "Group", by.ID, by.GroupID)
}

func (q queryResolver) Groups(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.GroupConnection, error) {
	listing, err := listingOf(domain.GroupFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Groups.List, q.Ports.Groups.Count)
}

func (q queryResolver) GroupList(ctx context.Context, limit, offset *int32) (*model.GroupList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Page: page}, q.Ports.Groups.List, q.Ports.Groups.Count)
}

func (g groupResolver) ID(_ context.Context, of *domain.Group) (string, error) {
	return globalID("Group", formatID(of.GroupID)), nil
}

func (g groupResolver) NumberOfUsers(ctx context.Context, of *domain.Group) (*int32, error) {
	counts, err := countsOfGroup.of(ctx, of)
	return number(counts.Users, err)
}

func (g groupResolver) NumberOfSubscribers(ctx context.Context, of *domain.Group) (*int32, error) {
	counts, err := countsOfGroup.of(ctx, of)
	return number(counts.Subscribers, err)
}

func (g groupResolver) Subscribers(ctx context.Context, of *domain.Group, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := g.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, subscribersOfGroup, totalsByGroup)
}

var _ = nodesByNumber("Group", func(g *Graph) finding[int64, *domain.Group] { return g.Ports.Groups.FindMany })
