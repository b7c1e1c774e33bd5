package resolvers

import (
	"context"

	"simgraph/graph/model"
)

func (q queryResolver) Operators(ctx context.Context, first *int32, after *string) (*model.OperatorConnection, error) {
	return forward(ctx, first, after, scopeOf, q.Catalogue.Operators)
}

func (q queryResolver) Tariffs(ctx context.Context, first *int32, after *string) (*model.TariffConnection, error) {
	return forward(ctx, first, after, scopeOf, q.Catalogue.Tariffs)
}
