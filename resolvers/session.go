package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (s subscriberResolver) Sessions(ctx context.Context, of *domain.Subscriber, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SessionConnection, error) {
	listing, err := listingOf(domain.SessionFields, first, after, last, before, filter, orderBy)
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
	return companyPage(ctx, of, sessionsOfCompany, domain.SessionFields, first, after, last, before, filter, orderBy)
}

var _ = nodes("Session", (*Graph).sessionNodes)

func (g *Graph) sessionNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Sessions.FindMany(ctx, scope, ids)
	return asNodes(found, itself, model.NewSession), err
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
