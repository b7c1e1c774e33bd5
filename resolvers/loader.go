// This file is where dataloader is used. Beside its README:
//
//   - A request has one dataloader for each source: WithLoaders is the middleware, and
//     source.in makes or finds the loader. sources.go lists the sources.
//   - loader.batch is the batch function. It calls the method of a port that a source
//     names, which returns a map; dataloader wants a result for each key, in order.
//   - key is the key of the cache: that of an object with the arguments of the field.
//   - Resolvers call Load and wait for the thunk, by relation.of or relation.with
//     (relation.go); relations.go says which field reads which source.
//   - Prime: before the fields of a level are resolved, graph/plan/prefetch.go collects the
//     keys of all its objects by loader.queue. loader.fetch loads them with one statement
//     and primes the dataloader. Load then finds the thunk, and nothing waits for a batch.
//   - A mutation calls ForgetLoaded instead of Clear. With the response all loaders go.

package resolvers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"

	"simgraph/domain"
	"simgraph/graph/plan"
)

const (
	// batchWait is how long a loader waits for more keys that were not
	// prefetched. Shorter splits batches, longer adds to the latency of every
	// level of a query.
	batchWait = time.Millisecond
	// batchCap bounds the keys of one statement.
	batchCap = 1000
)

// source loads the values of keys K, those with equal arguments A in one
// statement.
type source[A, K comparable, V any] struct {
	// slot is the place of its loader among those of a response.
	slot int
	load loadBy[A, K, V]
}

// loadBy returns the values that there are of the keys, in a map that is the
// caller's.
type loadBy[A, K comparable, V any] func(ctx context.Context, l *loaders, keys []K, args A) (map[K]V, error)

// slots counts the sources.
var slots int

// loadingBy returns a source.
func loadingBy[A, K comparable, V any](load loadBy[A, K, V]) *source[A, K, V] {
	slots++
	return &source[A, K, V]{slot: slots - 1, load: load}
}

// none are the arguments of a source that takes none.
type none = struct{}

// loader is the dataloader of one source for one response. The prefetch primes it
// with the values of a level; keys that nothing has primed it batches itself.
type loader[A, K comparable, V any] struct {
	*loaders
	*dataloader.Loader[key[A, K], V]
	load loadBy[A, K, V]
	// cache is that of the dataloader, which has no Prime for errors.
	cache dataloader.Cache[key[A, K], V]
}

// key is a key with its arguments.
type key[A, K comparable] struct {
	args A
	of   K
}

// in returns the loader of the source in the response.
func (s *source[A, K, V]) in(ctx context.Context) *loader[A, K, V] {
	l := loadersFrom(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.slots[s.slot].(*loader[A, K, V])
	if !ok {
		known = &loader[A, K, V]{loaders: l, load: s.load, cache: dataloader.NewCache[key[A, K], V]()}
		known.Loader = dataloader.NewBatchedLoader(known.batch, dataloader.WithCache(known.cache),
			dataloader.WithWait[key[A, K], V](batchWait), dataloader.WithBatchCapacity[key[A, K], V](batchCap))
		l.slots[s.slot] = known
	}
	return known
}

// value returns the value of a key; the zero value when there is none.
func (l *loader[A, K, V]) value(ctx context.Context, args A, of K) (V, error) {
	return l.Load(ctx, key[A, K]{args, of})()
}

// batch is the function of the dataloader. It loads the keys with one statement for
// each group of equal arguments.
func (l *loader[A, K, V]) batch(ctx context.Context, keys []key[A, K]) []*dataloader.Result[V] {
	places := map[A][]int{}
	for i, k := range keys {
		places[k.args] = append(places[k.args], i)
	}
	results := make([]*dataloader.Result[V], len(keys))
	for args, at := range places {
		of := make([]K, len(at))
		for i, place := range at {
			of[i] = keys[place].of
		}
		values, err := l.loadRecovering(ctx, args, of)
		for i, place := range at {
			results[place] = &dataloader.Result[V]{Data: values[of[i]], Error: err}
		}
	}
	return results
}

// fetch loads the keys and primes the dataloader with what came of each, so that no
// field waits.
func (l *loader[A, K, V]) fetch(ctx context.Context, args A, keys []K) {
	for chunk := range slices.Chunk(keys, batchCap) {
		values, err := l.loadRecovering(ctx, args, chunk)
		if err != nil {
			l.fail(ctx, args, chunk, err)
		} else {
			l.prime(ctx, args, chunk, values)
		}
	}
}

// loadRecovering makes a panic the error of its keys: it may run outside of the
// goroutine of a field.
func (l *loader[A, K, V]) loadRecovering(ctx context.Context, args A, keys []K) (values map[K]V, err error) {
	reportBatch(ctx, len(keys))
	defer func() {
		if fault := recover(); fault != nil {
			err = graphql.GetOperationContext(ctx).RecoverFunc(ctx, fault)
		}
	}()
	return l.load(ctx, l.loaders, keys, args)
}

// prime notes the values of keys, also that there is none.
func (l *loader[A, K, V]) prime(ctx context.Context, args A, keys []K, values map[K]V) {
	for _, of := range keys {
		l.Prime(ctx, key[A, K]{args, of}, values[of])
	}
}

// fail notes the error of keys. Loading one of them again would be another batch,
// which a bound may let pass.
func (l *loader[A, K, V]) fail(ctx context.Context, args A, keys []K, err error) {
	failed := func() (none V, _ error) { return none, err }
	for _, of := range keys {
		l.cache.Set(ctx, key[A, K]{args, of}, failed)
	}
}

// queue adds the keys that are not known to the batch of a level.
func (l *loader[A, K, V]) queue(ctx context.Context, level *plan.Level, args A, keys []K) {
	keys = slices.DeleteFunc(keys, func(of K) bool {
		_, known := l.cache.Get(ctx, key[A, K]{args, of})
		return known
	})
	if len(keys) == 0 {
		return
	}
	for _, queued := range level.Batches {
		if b, ok := queued.(*batch[A, K, V]); ok && b.loader == l && b.args == args {
			b.keys = append(b.keys, keys...)
			return
		}
	}
	level.Batches = append(level.Batches, &batch[A, K, V]{l, args, keys})
}

// batch is the keys of a level that one statement loads.
type batch[A, K comparable, V any] struct {
	loader *loader[A, K, V]
	args   A
	keys   []K
}

// Load implements plan.Batch.
func (b *batch[A, K, V]) Load(ctx context.Context) { b.loader.fetch(ctx, b.args, once(b.keys)) }

// once returns the keys without repeating any.
func once[K comparable](keys []K) []K {
	if len(keys) < 2 {
		return keys
	}
	seen, distinct := make(map[K]struct{}, len(keys)), make([]K, 0, len(keys))
	for _, of := range keys {
		if seen[of] = struct{}{}; len(seen) > len(distinct) {
			distinct = append(distinct, of)
		}
	}
	return distinct
}

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
