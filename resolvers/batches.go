package resolvers

import "context"

type batchesKey struct{}

// WithBatches returns a context in which tell is told of every batch of keys
// that a loader asks for in one statement.
func WithBatches(ctx context.Context, tell func(keys int)) context.Context {
	return context.WithValue(ctx, batchesKey{}, tell)
}

func tellBatch(ctx context.Context, keys int) {
	if tell, ok := ctx.Value(batchesKey{}).(func(int)); ok {
		tell(keys)
	}
}
