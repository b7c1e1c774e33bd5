package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryResolver) Deliveries(
	ctx context.Context, channel *domain.Channel, state *domain.DeliveryState, first *int32, after *string, last *int32, before *string,
) (*model.DeliveryConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	var of domain.DeliveryFilter
	if channel != nil {
		of.Channel = *channel
	}
	if state != nil {
		of.State = *state
	}
	list := func(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.Delivery], error) {
		return q.Ports.Deliveries.List(ctx, scope, of, page)
	}
	count := func(ctx context.Context, scope domain.Scope) (int, error) {
		return q.Ports.Deliveries.Count(ctx, scope, of)
	}
	return paged(ctx, page, scopeOf, list, count)
}

func (d deliveryResolver) ID(_ context.Context, of *domain.Delivery) (string, error) {
	return globalID("Delivery", of.DeliveryID), nil
}

func (g *Graph) deliveryNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Deliveries.FindMany(ctx, scope, ids)
	return asNodes(found, sameID), err
}
