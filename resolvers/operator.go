package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Operator(ctx context.Context, by input.OperatorKey) (*domain.Operator, error) {
	return lookUp[domain.Operator](ctx, q, "Operator", by.ID, by.Code)
}

func (q queryResolver) Operators(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.OperatorConnection, error) {
	listing, err := listingOf(domain.OperatorFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Catalogue.Operators, q.Catalogue.CountOperators)
}

func (q queryResolver) Tariff(ctx context.Context, by input.TariffKey) (*domain.Tariff, error) {
	return lookUp[domain.Tariff](ctx, q, "Tariff", by.ID, by.Name)
}

func (q queryResolver) Tariffs(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.TariffConnection, error) {
	listing, err := listingOf(domain.TariffFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Catalogue.Tariffs, q.Catalogue.CountTariffs)
}

func (o operatorResolver) ID(_ context.Context, of *domain.Operator) (string, error) {
	return globalID("Operator", of.Code), nil
}

func (t tariffResolver) ID(_ context.Context, of *domain.Tariff) (string, error) {
	return globalID("Tariff", of.Name), nil
}

var _ = nodesByText("Operator", func(g *Graph) finding[string, *domain.Operator] { return g.Catalogue.FindOperators })

var _ = nodesByText("Tariff", func(g *Graph) finding[string, *domain.Tariff] { return g.Catalogue.FindTariffs })
