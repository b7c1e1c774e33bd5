package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

func (s subscriptionResolver) AlertTriggered(ctx context.Context) (<-chan domain.AlertLogEntry, error) {
	return followed(ctx, func(scope domain.Scope) (*domain.Stream[domain.AlertLogEntry], error) {
		return s.Live.AlertTriggered(ctx, scope)
	})
}

func (s subscriptionResolver) SubscriberChanged(ctx context.Context, physicalIDs []string) (<-chan *domain.Subscriber, error) {
	return followed(ctx, func(scope domain.Scope) (*domain.Stream[*domain.Subscriber], error) {
		return s.Live.SubscriberChanged(ctx, scope, physicalIDs)
	})
}

func (s subscriptionResolver) UsageRecorded(ctx context.Context, physicalIDs []string) (<-chan *domain.UsageRecorded, error) {
	return followed(ctx, func(scope domain.Scope) (*domain.Stream[*domain.UsageRecorded], error) {
		return s.Live.UsageRecorded(ctx, scope, physicalIDs)
	})
}

// followed passes the events of a stream on, and after them the error that it
// failed with, which the engine makes its last answer.
func followed[T any](ctx context.Context, start func(domain.Scope) (*domain.Stream[T], error)) (<-chan T, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := start(scope)
	if err != nil {
		return nil, err
	}
	events := make(chan T)
	go func() {
		defer close(events)
		for event := range stream.Events {
			select {
			case events <- event:
			case <-ctx.Done():
				return
			}
		}
		if err := stream.Err(); err != nil {
			graphql.AddError(ctx, err)
		}
	}()
	return events, nil
}
