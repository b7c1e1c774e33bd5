package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

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

// impersonal are the types of which IsImpersonal is true. An event with any other type, such as
// an operation, which users of groups see when it is their own, is shared between the sessions of
// one user alone.
var impersonal = map[string]bool{
	"Subscription": true, "AlertLogEntry": true, "ConditionLogEntry": true, "VolumeLogEntry": true, "Period": true, "UsageRecorded": true,
	"Subscriber": true, "Group": true, "NetworkState": true, "Operator": true, "Tag": true, "Tariff": true, "Usage": true, "UsageTotals": true,
}

// IsImpersonal reports whether all fields of a type are the same for users with the same rights.
func IsImpersonal(typeName string) bool { return impersonal[typeName] }

// ShareEvents returns the context in which the events of a subscription are made once for
// all callers that are equal to the one that it returns with it. It knows nothing else of them.
func ShareEvents(ctx context.Context, op *ast.OperationDefinition) (shared context.Context, by any) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, nil
	}
	caller = caller.WithoutSession()
	if isImpersonal(op.SelectionSet) {
		caller = caller.WithoutIdentity()
	}
	return domain.WithCaller(context.Background(), caller), caller
}

func isImpersonal(selected ast.SelectionSet) bool {
	for _, selection := range selected {
		below := false
		switch of := selection.(type) {
		case *ast.Field:
			below = of.ObjectDefinition != nil && IsImpersonal(of.ObjectDefinition.Name) && isImpersonal(of.SelectionSet)
		case *ast.InlineFragment:
			below = isImpersonal(of.SelectionSet)
		case *ast.FragmentSpread:
			below = isImpersonal(of.Definition.SelectionSet)
		}
		if !below {
			return false
		}
	}
	return true
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
