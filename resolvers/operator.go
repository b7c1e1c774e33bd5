package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryResolver) Operators(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.OperatorConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return paged(ctx, page, scopeOf, q.Catalogue.Operators, q.Catalogue.CountOperators)
}

func (q queryResolver) Tariffs(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.TariffConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return paged(ctx, page, scopeOf, q.Catalogue.Tariffs, q.Catalogue.CountTariffs)
}

func (o operatorResolver) ID(_ context.Context, of *domain.Operator) (string, error) {
	return globalID("Operator", of.Code), nil
}

func (t tariffResolver) ID(_ context.Context, of *domain.Tariff) (string, error) {
	return globalID("Tariff", of.Name), nil
}
