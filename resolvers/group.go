package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryRoot) Group(ctx context.Context, groupID int32) (*domain.Group, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := q.Ports.Groups.Find(ctx, scope, int64(groupID))
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfGroups(ctx, selected(ctx), []*domain.Group{found})
	return found, nil
}

func (q queryRoot) Groups(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.GroupConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listGroups(ctx, page)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfGroups(ctx, selected(ctx).nodes(), slice.Items)
	return connection(slice, total), nil
}

func (q queryRoot) GroupList(ctx context.Context, limit, offset *int32) (*model.GroupList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listGroups(ctx, page)
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfGroups(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

func (g *Graph) listGroups(ctx context.Context, page domain.Page) (domain.Slice[*domain.Group], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[*domain.Group]{}, nil, err
	}
	slice, err := g.Ports.Groups.List(ctx, scope, page)
	total := func(ctx context.Context) (int, error) { return g.Ports.Groups.Count(ctx, scope) }
	return slice, total, err
}

func (m mutation) EditGroup(ctx context.Context, in input.EditGroupInput) (*model.EditGroupPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := domain.CheckName("name", in.Name); err != nil {
		return nil, err
	}
	renamed, err := m.Ports.Groups.Rename(ctx, scope, int64(in.GroupID), in.Name)
	return &model.EditGroupPayload{Group: renamed}, err
}

func (g groupOf) ID(_ context.Context, of *domain.Group) (string, error) {
	return globalID("Group", formatID(of.GroupID)), nil
}

func (g groupOf) NumberOfUsers(ctx context.Context, of *domain.Group) (int32, error) {
	counts, err := loadersFrom(ctx).groupCounts.of(ctx, of.GroupID)
	return int32(counts.Users), err
}

func (g groupOf) NumberOfSubscribers(ctx context.Context, of *domain.Group) (int32, error) {
	counts, err := loadersFrom(ctx).groupCounts.of(ctx, of.GroupID)
	return int32(counts.Subscribers), err
}

func (g groupOf) Subscribers(ctx context.Context, of *domain.Group, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SubscriberConnection, error) {
	listing, err := g.subscriberListing(ctx, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	l := loadersFrom(ctx)
	return partConnection(ctx, of.GroupID, l.listings.once(listing), &l.groupSubscribers, &l.groupTotals)
}

// partConnection is the connection of the subscribers of one parent, loaded
// with those of all others.
func partConnection[P comparable](ctx context.Context, of P, listing *domain.Listing, parts *partOf[P, domain.Slice[*domain.Subscriber]], totals *partOf[P, int]) (*model.SubscriberConnection, error) {
	slice, err := parts.of(ctx, listing, of)
	if err != nil {
		return nil, err
	}
	return connection(slice, func(ctx context.Context) (int, error) { return totals.of(ctx, listing, of) }), nil
}

// aheadOfGroups loads the selected relations of all the groups.
func (l *loaders) aheadOfGroups(ctx context.Context, s selection, of []*domain.Group) {
	if len(of) == 0 || s.empty() {
		return
	}
	ids := each(of, func(g *domain.Group) int64 { return g.GroupID })
	if s.has("numberOfUsers") || s.has("numberOfSubscribers") {
		l.groupCounts.ahead(ctx, ids)
	}
	if s.has("usage") {
		l.aheadOfUsage(ctx, s, subjects(domain.GroupSubject, of, func(g *domain.Group) int64 { return g.GroupID }))
	}
	l.aheadOfGroupAlerts(ctx, s, ids)
	aheadOfParts(ctx, l, s, ids, &l.groupSubscribers, &l.groupTotals)
}

// aheadOfParts loads the selected parts of the subscribers of all parents.
func aheadOfParts[P comparable](ctx context.Context, l *loaders, s selection, parents []P, parts *partOf[P, domain.Slice[*domain.Subscriber]], totals *partOf[P, int]) {
	for _, field := range s.fields("subscribers") {
		listing, err := l.listingOf(ctx, s.op, field)
		if err != nil {
			continue // the field itself reports it
		}
		var all []*domain.Subscriber
		for _, slice := range parts.aheadValues(ctx, listing, parents) {
			all = append(all, slice.Items...)
		}
		below := s.under(field)
		if below.has("totalCount") {
			totals.ahead(ctx, listing, parents)
		}
		l.aheadOfSubscribers(ctx, below.nodes(), all)
	}
}

// listingOf reads the arguments of a selected connection of subscribers.
func (l *loaders) listingOf(ctx context.Context, op *graphql.OperationContext, field graphql.CollectedField) (*domain.Listing, error) {
	args := field.ArgumentMap(op.Variables)
	first, err := intArgument(args["first"])
	if err != nil {
		return nil, err
	}
	last, err := intArgument(args["last"])
	if err != nil {
		return nil, err
	}
	listing, err := l.graph.subscriberListing(ctx, first, textArgument(args["after"]), last, textArgument(args["before"]),
		object(args["filter"]), objects(args["orderBy"]))
	return l.listings.once(listing), err
}
