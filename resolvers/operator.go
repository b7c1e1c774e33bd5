package resolvers

import (
	"context"

	"simgraph/graph/model"
)

func (q queryRoot) Operators(ctx context.Context, first *int32, after *string) (*model.OperatorConnection, error) {
	page, err := connectionPage(first, after, nil, nil)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	slice, err := q.Catalogue.Operators(ctx, scope, page)
	return connection(slice, nil), err
}

func (q queryRoot) Tariffs(ctx context.Context, first *int32, after *string) (*model.TariffConnection, error) {
	page, err := connectionPage(first, after, nil, nil)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	slice, err := q.Catalogue.Tariffs(ctx, scope, page)
	return connection(slice, nil), err
}
