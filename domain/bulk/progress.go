package bulk

import "context"

type progressKey struct{}

// WithProgress has checks in ctx report how many of how many subscribers they checked, at
// most once for each Chunk.
func WithProgress(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports to the one that WithProgress named, if any.
func Progress(ctx context.Context, done, total int) {
	if report, is := ctx.Value(progressKey{}).(func(done, total int)); is {
		report(done, total)
	}
}
