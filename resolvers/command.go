package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/domain/query"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Commands(
	ctx context.Context, first *int32, after *string, last *int32, before *string, state *carrier.State, kind *carrier.Kind, operationID *string,
) (*model.CommandConnection, error) {
	listing, err := commandListing(first, after, last, before, state, kind)
	if err != nil {
		return nil, err
	}
	list := func(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*carrier.Command], error) {
		return q.Ports.Commands.List(ctx, scope, operationID, domain.Listing{Filter: listing.Filter, Page: page})
	}
	count := func(ctx context.Context, scope domain.Scope) (int, error) {
		return q.Ports.Commands.Count(ctx, scope, operationID, listing)
	}
	return paged(ctx, listing.Page, scopeOf, list, count)
}

// commandListing reads the arguments of a connection of commands.
func commandListing(first *int32, after *string, last *int32, before *string, state *carrier.State, kind *carrier.Kind) (listing domain.Listing, err error) {
	if listing.Page, err = connectionPage(first, after, last, before); err != nil {
		return listing, err
	}
	var parts query.And
	if state != nil {
		part, err := query.Compare(carrier.Fields, "state", query.Eq, string(*state))
		if err != nil {
			return listing, err
		}
		parts = append(parts, part)
	}
	if kind != nil {
		part, err := query.Compare(carrier.Fields, "kind", query.Eq, string(*kind))
		if err != nil {
			return listing, err
		}
		parts = append(parts, part)
	}
	listing.Filter = parts
	return listing, nil
}

// commandArguments reads the same arguments by their names.
func commandArguments(ctx context.Context, _ *domain.Subscriber, args arguments) (*domain.Listing, error) {
	listing, err := commandListing(argument[*int32](args, "first"), argument[*string](args, "after"), argument[*int32](args, "last"),
		argument[*string](args, "before"), argument[*carrier.State](args, "state"), argument[*carrier.Kind](args, "kind"))
	return loadersFrom(ctx).listing(listing), err
}

func (s subscriberResolver) Commands(
	ctx context.Context, of *domain.Subscriber, first *int32, after *string, last *int32, before *string, state *carrier.State, kind *carrier.Kind,
) (*model.CommandConnection, error) {
	listing, err := commandListing(first, after, last, before, state, kind)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, commandsOfSubscriber, commandTotalsBySubscriber)
}

func (q queryResolver) CommandProvider(ctx context.Context) (*carrier.Provider, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.Commands.Provider(ctx, scope)
}

func (m mutationResolver) SetCommandProvider(ctx context.Context, in input.SetCommandProviderInput) (*model.SetCommandProviderPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	set, secret, err := m.Ports.Commands.SetProvider(ctx, scope, carrier.Settings{URL: in.URL.Value(), RotateSecret: in.RotateSecret})
	payload := &model.SetCommandProviderPayload{Provider: set}
	if secret != nil {
		payload.Secret = new(secret.String())
	}
	return payload, err
}

func (m mutationResolver) RemoveCommandProvider(ctx context.Context, in input.RemoveCommandProviderInput) (*model.RemoveCommandProviderPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := m.Ports.Commands.RemoveProvider(ctx, scope, in.URL)
	return &model.RemoveCommandProviderPayload{Provider: removed}, err
}

func (m mutationResolver) ReportCommand(ctx context.Context, in input.ReportCommandInput) (*model.ReportCommandPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	report := carrier.Report{CommandID: in.CommandID, State: in.State}
	if reason := in.Reason.Value(); reason != nil {
		report.Reason = *reason
	}
	reported, err := m.Ports.Commands.Report(ctx, scope, report)
	return &model.ReportCommandPayload{Command: reported}, err
}

func (m mutationResolver) RetryCommand(ctx context.Context, in input.RetryCommandInput) (*model.RetryCommandPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	retried, err := m.Ports.Commands.Retry(ctx, scope, in.CommandID)
	return &model.RetryCommandPayload{Command: retried}, err
}

func (m mutationResolver) CancelCommand(ctx context.Context, in input.CancelCommandInput) (*model.CancelCommandPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	cancelled, err := m.Ports.Commands.Cancel(ctx, scope, in.CommandID)
	return &model.CancelCommandPayload{Command: cancelled}, err
}

func (c commandResolver) ID(_ context.Context, of *carrier.Command) (string, error) {
	return globalID("Command", of.CommandID), nil
}

func (c commandResolver) Subscriber(ctx context.Context, of *carrier.Command) (*domain.Subscriber, error) {
	return subscriberOfCommand.of(ctx, of)
}

func (c commandResolver) Operation(ctx context.Context, of *carrier.Command) (*bulk.Operation, error) {
	return operationOfCommand.of(ctx, of)
}

func (g *Graph) commandNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Commands.FindMany(ctx, scope, ids)
	return asNodes(found, sameID), err
}
