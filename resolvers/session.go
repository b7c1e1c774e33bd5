package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (s subscriberResolver) Sessions(ctx context.Context, of *domain.Subscriber, limit, offset *int32) ([]*model.Session, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return items(sessionsOfSubscriber.with(ctx, of, page))
}

func (s subscriberResolver) LastSeen(ctx context.Context, of *domain.Subscriber) (*time.Time, error) {
	seen, err := lastSeenOfSubscriber.of(ctx, of)
	if err != nil || seen.IsZero() {
		return nil, err
	}
	return &seen, nil
}

// shownSessions are sessions by subscriber, as the graph shows them.
func shownSessions(ctx context.Context, l *loaders, subscribers []int64, page domain.Page) (map[int64][]*model.Session, error) {
	sessions, err := l.graph.Sessions.OfSubscribers(ctx, l.scope, subscribers, page)
	shown := make(map[int64][]*model.Session, len(sessions))
	for key, of := range sessions {
		shown[key] = each(of, model.NewSession)
	}
	return shown, err
}
