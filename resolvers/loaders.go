package resolvers

import (
	"context"
	"sync"
	"time"

	"simgraph/domain"
)

// loaders are those of one response.
type loaders struct {
	graph       *Graph
	scope       domain.Scope
	periodStart time.Time // of the current billing period

	mu sync.Mutex
	// slots hold the loader of each source, once it is used.
	slots []any
	// listings are those of the response, each once, so that equal ones are one
	// pointer and the arguments of one batch.
	listings []*domain.Listing
}

type loadersKey struct{}

// WithLoaders puts fresh loaders into the context of a response.
func (g *Graph) WithLoaders(ctx context.Context) context.Context {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, loadersKey{}, &loaders{
		graph: g, scope: caller.Scope, periodStart: g.periodStart(ctx), slots: make([]any, slots),
	})
}

// ForgetLoaded clears the loaders of a response, after a write.
func ForgetLoaded(ctx context.Context) {
	if l := loadersFrom(ctx); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		clear(l.slots)
	}
}

func loadersFrom(ctx context.Context) *loaders {
	l, _ := ctx.Value(loadersKey{}).(*loaders)
	return l
}

// listing returns the one that is equal among those of the response.
func (l *loaders) listing(listing domain.Listing) *domain.Listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.listings {
		if known.Equal(listing) {
			return known
		}
	}
	l.listings = append(l.listings, &listing)
	return &listing
}
