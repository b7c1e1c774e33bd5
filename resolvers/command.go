package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Command(ctx context.Context, by input.CommandKey) (*carrier.Command, error) {
	return lookUp[carrier.Command](ctx, q, "Command", by.ID, by.CommandID)
}

func (q queryResolver) Commands(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.CommandConnection, error) {
	listing, err := listingOf(carrier.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Commands.List, q.Ports.Commands.Count)
}

func (s subscriberResolver) Commands(ctx context.Context, of *domain.Subscriber, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.CommandConnection, error) {
	listing, err := listingOf(carrier.Fields, first, after, last, before, filter, orderBy)
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

func (m mutationResolver) DeleteCommandProvider(ctx context.Context, in input.DeleteCommandProviderInput) (*model.DeleteCommandProviderPayload, error) {
	removed, err := within(ctx, m.Ports.Commands.RemoveProvider, in.URL)
	return &model.DeleteCommandProviderPayload{Provider: removed}, err
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
	retried, err := within(ctx, m.Ports.Commands.Retry, in.CommandID)
	return &model.RetryCommandPayload{Command: retried}, err
}

func (m mutationResolver) CancelCommand(ctx context.Context, in input.CancelCommandInput) (*model.CancelCommandPayload, error) {
	cancelled, err := within(ctx, m.Ports.Commands.Cancel, in.CommandID)
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

var _ = nodesByText("Command", func(g *Graph) finding[string, *carrier.Command] { return g.Ports.Commands.FindMany })
