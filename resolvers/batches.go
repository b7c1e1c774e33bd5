package resolvers

import "context"

type batchesKey struct{}

// WithBatches returns a context in which report is called with the number of keys
// of each statement of a loader.
func WithBatches(ctx context.Context, report func(keys int)) context.Context {
	return context.WithValue(ctx, batchesKey{}, report)
}

func reportBatch(ctx context.Context, keys int) {
	if report, ok := ctx.Value(batchesKey{}).(func(int)); ok {
		report(keys)
	}
}
