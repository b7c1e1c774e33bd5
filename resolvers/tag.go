package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryRoot) Tag(ctx context.Context, name string) (*domain.TagName, error) {
	tag, err := domain.NewTagName(name)
	if err != nil {
		return nil, err
	}
	l := loadersFrom(ctx)
	if n, err := l.tagCounts.of(ctx, tag); err != nil || n == 0 {
		return nil, err
	}
	l.aheadOfTags(ctx, selected(ctx), []domain.TagName{tag})
	return &tag, nil
}

func (q queryRoot) Tags(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.TagConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listTags(ctx, page)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfTags(ctx, selected(ctx).nodes(), slice.Items)
	return connection(slice, total), nil
}

func (q queryRoot) TagList(ctx context.Context, limit, offset *int32) (*model.TagList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listTags(ctx, page)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfTags(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

// listTags lists the tags; their counts come with them, so that the loader
// knows them already.
func (g *Graph) listTags(ctx context.Context, page domain.Page) (domain.Slice[domain.TagName], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[domain.TagName]{}, nil, err
	}
	counted, err := g.Ports.Tags.List(ctx, scope, page)
	if err != nil {
		return domain.Slice[domain.TagName]{}, nil, err
	}
	l := loadersFrom(ctx)
	names := make([]domain.TagName, len(counted.Items))
	for i, tag := range counted.Items {
		names[i] = tag.Name
		l.tagCounts.prime(tag.Name, tag.Subscribers)
	}
	total := func(ctx context.Context) (int, error) { return g.Ports.Tags.Count(ctx, scope) }
	return domain.Slice[domain.TagName]{Items: names, Cursor: counted.Cursor, HasNext: counted.HasNext, HasPrevious: counted.HasPrevious}, total, nil
}

func (q queryRoot) TaggedSubscriberList(ctx context.Context, tagName string, limit, offset *int32) (*model.SubscriberList, error) {
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
	slice, total, err := q.listSubscribers(ctx, domain.Listing{Filter: carries, Page: page})
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfSubscribers(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

func (m mutation) AttachTag(ctx context.Context, in input.TagInput) (*model.AttachTagPayload, error) {
	scope, tag, err := tagAndScope(ctx, in)
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

func (m mutation) DetachTag(ctx context.Context, in input.TagInput) (*model.DetachTagPayload, error) {
	scope, tag, err := tagAndScope(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := m.Ports.Tags.Detach(ctx, scope, tag, in.PhysicalIds); err != nil {
		return nil, err
	}
	subscribers, err := m.named(ctx, scope, in.PhysicalIds)
	return &model.DetachTagPayload{Subscribers: subscribers}, err
}

func tagAndScope(ctx context.Context, in input.TagInput) (domain.Scope, domain.TagName, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return scope, "", err
	}
	if n := len(in.PhysicalIds); n < 1 || n > domain.MaxBatch {
		return scope, "", domain.Invalid("physicalIds", "physicalIds must name 1 to %d subscribers, not %d", domain.MaxBatch, n)
	}
	for _, id := range in.PhysicalIds {
		if err := domain.CheckPhysicalID(id); err != nil {
			return scope, "", err
		}
	}
	tag, err := domain.NewTagName(in.TagName)
	return scope, tag, err
}

// named returns the subscribers of a write in the order in which they were
// named, each once.
func (g *Graph) named(ctx context.Context, scope domain.Scope, physicalIDs []string) ([]*domain.Subscriber, error) {
	if !selected(ctx).has("subscribers") {
		return nil, nil
	}
	found, err := g.Ports.Subscribers.FindMany(ctx, scope, physicalIDs, wanted(ctx))
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
	loadersFrom(ctx).aheadOfSubscribers(ctx, selected(ctx).below("subscribers"), subscribers)
	return subscribers, nil
}

func (t tagOf) ID(_ context.Context, of *domain.TagName) (string, error) {
	return globalID("Tag", string(*of)), nil
}

func (t tagOf) NumberOfSubscribers(ctx context.Context, of *domain.TagName) (int32, error) {
	n, err := loadersFrom(ctx).tagCounts.of(ctx, *of)
	return int32(n), err
}

func (t tagOf) Subscribers(ctx context.Context, of *domain.TagName, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := t.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	l := loadersFrom(ctx)
	return partConnection(ctx, *of, l.listings.once(listing), &l.tagSubscribers, &l.tagTotals)
}

// aheadOfTags loads the selected relations of all the tags.
func (l *loaders) aheadOfTags(ctx context.Context, s selection, of []domain.TagName) {
	if len(of) == 0 || s.empty() {
		return
	}
	if s.has("numberOfSubscribers") {
		l.tagCounts.ahead(ctx, of)
	}
	if s.has("usage") {
		l.aheadOfUsage(ctx, s, each(of, func(t domain.TagName) domain.Subject { return domain.Subject{Kind: domain.TagSubject, Tag: t} }))
	}
	aheadOfParts(ctx, l, s, of, &l.tagSubscribers, &l.tagTotals)
}
