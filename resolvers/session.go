package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (s subscriberResolver) Sessions(ctx context.Context, of *domain.Subscriber, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SessionConnection, error) {
	listing, err := sessionListing(first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, sessionsOfSubscriber, sessionTotalsBySubscriber)
}

func (s subscriberResolver) LastSeen(ctx context.Context, of *domain.Subscriber) (*time.Time, error) {
	seen, err := lastSeenOfSubscriber.of(ctx, of)
	if err != nil || seen.IsZero() {
		return nil, err
	}
	return &seen, nil
}

func (s sessionResolver) ID(_ context.Context, of *model.Session) (string, error) {
	return globalID("Session", of.Identity), nil
}

func (s sessionResolver) Subscriber(ctx context.Context, of *model.Session) (*domain.Subscriber, error) {
	return subscriberOfSession.of(ctx, of)
}

func (c companyResolver) Sessions(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SessionConnection, error) {
	listing, err := sessionListing(first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return sessionsOfCompany.with(ctx, of, loadersFrom(ctx).listing(listing))
}

// sessionListing reads the arguments of a connection of sessions.
func sessionListing(first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (domain.Listing, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return domain.Listing{}, err
	}
	expr, err := filterOf(filter, domain.SessionFields)
	if err != nil {
		return domain.Listing{}, err
	}
	order, err := ordersOf(orderBy, domain.SessionFields)
	return domain.Listing{Filter: expr, Order: order, Page: page}, err
}

// sessionArguments reads the same arguments by their names.
func sessionArguments[O any](ctx context.Context, _ O, args arguments) (*domain.Listing, error) {
	listing, err := sessionListing(argument[*int32](args, "first"), argument[*string](args, "after"),
		argument[*int32](args, "last"), argument[*string](args, "before"),
		argument[map[string]any](args, "filter"), argument[[]map[string]any](args, "orderBy"))
	return loadersFrom(ctx).listing(listing), err
}

// companySessions is the page of the company: one for all places of a response.
func companySessions(ctx context.Context, l *loaders, _ []none, listing *domain.Listing) (map[none]*model.SessionConnection, error) {
	slice, err := l.graph.Ports.Sessions.List(ctx, l.scope, *listing)
	if err != nil {
		return nil, err
	}
	total := func(ctx context.Context) (int, error) { return sessionTotals.in(ctx).value(ctx, listing, none{}) }
	return map[none]*model.SessionConnection{{}: connection(shownSlice(slice, model.NewSession), total)}, nil
}

func (g *Graph) sessionNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Sessions.FindMany(ctx, scope, ids)
	return shownNodes(found, model.NewSession), err
}

// sessionsOfEach are pages of sessions by subscriber, as the graph shows them.
func sessionsOfEach(ctx context.Context, l *loaders, subscribers []int64, part *domain.Listing) (map[int64]domain.Slice[*model.Session], error) {
	pages, err := l.graph.Ports.Sessions.OfSubscribers(ctx, l.scope, subscribers, *part)
	shown := make(map[int64]domain.Slice[*model.Session], len(pages))
	for key, page := range pages {
		shown[key] = shownSlice(page, model.NewSession)
	}
	return shown, err
}
