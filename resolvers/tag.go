package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Tag(ctx context.Context, by input.TagKey) (*domain.TagName, error) {
	name, known := naturalKey("Tag", by.ID, by.Name)
	if !known {
		return nil, nil
	}
	tag, err := domain.NewTagName(name)
	if err != nil {
		return nil, err
	}
	counts := countsByTag.in(ctx)
	counts.fetch(ctx, none{}, []domain.TagName{tag})
	if n, err := counts.value(ctx, none{}, tag); err != nil || n == 0 {
		return nil, err
	}
	return &tag, nil
}

func (q queryResolver) Tags(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.TagConnection, error) {
	listing, err := listingOf(domain.TagFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Tags.List, q.Ports.Tags.Count)
}

func (q queryResolver) TagList(ctx context.Context, limit, offset *int32) (*model.TagList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Page: page}, q.Ports.Tags.List, q.Ports.Tags.Count)
}

func (q queryResolver) TaggedSubscriberList(ctx context.Context, tagName string, limit, offset *int32) (*model.SubscriberList, error) {
	tag, err := domain.NewTagName(tagName)
	if err != nil {
		return nil, err
	}
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	carries, err := query.Compare(domain.SubscriberFields, "tags", query.Eq, string(tag))
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, q.subscriberPage(ctx, carries, nil, page), q.Ports.Subscribers.List, q.Ports.Subscribers.Count)
}

func (m mutationResolver) AttachTag(ctx context.Context, in input.AttachTagInput) (*model.AttachTagPayload, error) {
	scope, tag, err := tagAndScope(ctx, in.TagName, in.PhysicalIds, in.Reason)
	if err != nil {
		return nil, err
	}
	attached, err := m.Ports.Tags.Attach(ctx, scope, tag, in.PhysicalIds)
	if err != nil {
		return nil, err
	}
	subscribers, err := m.named(ctx, scope, in.PhysicalIds)
	return &model.AttachTagPayload{Tag: tag, Subscribers: subscribers, Attached: attached}, err
}

func (m mutationResolver) DetachTag(ctx context.Context, in input.DetachTagInput) (*model.DetachTagPayload, error) {
	scope, tag, err := tagAndScope(ctx, in.TagName, in.PhysicalIds, in.Reason)
	if err != nil {
		return nil, err
	}
	if err := m.Ports.Tags.Detach(ctx, scope, tag, in.PhysicalIds); err != nil {
		return nil, err
	}
	subscribers, err := m.named(ctx, scope, in.PhysicalIds)
	return &model.DetachTagPayload{Subscribers: subscribers}, err
}

func tagAndScope(ctx context.Context, name string, physicalIDs []string, reason graphql.Omittable[*string]) (domain.Scope, domain.TagName, error) {
	scope, err := scopeOfChange(ctx, reason)
	if err != nil {
		return scope, "", err
	}
	if n := len(physicalIDs); n < 1 || n > domain.MaxBatch {
		return scope, "", domain.Invalid("physicalIds", "physicalIds must name 1 to %d subscribers, not %d", domain.MaxBatch, n)
	}
	for _, id := range physicalIDs {
		if err := domain.CheckPhysicalID(id); err != nil {
			return scope, "", err
		}
	}
	tag, err := domain.NewTagName(name)
	return scope, tag, err
}

// named returns the subscribers of a write in the order in which they were
// named, each once.
func (g *Graph) named(ctx context.Context, scope domain.Scope, physicalIDs []string) ([]*domain.Subscriber, error) {
	if !slices.Contains(graphql.CollectAllFields(ctx), "subscribers") {
		return nil, nil
	}
	found, err := g.Ports.Subscribers.FindMany(ctx, scope, physicalIDs, g.projection(ctx))
	if err != nil {
		return nil, err
	}
	subscribers := make([]*domain.Subscriber, 0, len(found))
	for _, id := range physicalIDs {
		if s := found[id]; s != nil {
			subscribers = append(subscribers, s)
			delete(found, id)
		}
	}
	return subscribers, nil
}

func (t tagResolver) ID(_ context.Context, of *domain.TagName) (string, error) {
	return globalID("Tag", string(*of)), nil
}

func (t tagResolver) NumberOfSubscribers(ctx context.Context, of *domain.TagName) (*int32, error) {
	return number(countOfTag.of(ctx, of))
}

func (t tagResolver) Subscribers(ctx context.Context, of *domain.TagName, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := t.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, subscribersOfTag, totalsByTag)
}
