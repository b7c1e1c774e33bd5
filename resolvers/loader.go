package resolvers

import (
	"context"
	"maps"
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

// loader has the values of one source for one response. What was not
// prefetched goes through a dataloader, of which the loader is the cache.
type loader[A, K comparable, V any] struct {
	*loaders
	load loadBy[A, K, V]
	// parts are the values by their arguments. There is mostly one.
	parts []*part[A, K, V]
	// waiting is made for the first key that was not prefetched.
	waiting *dataloader.Loader[key[A, K], V]
}

// key is a key with its arguments.
type key[A, K comparable] struct {
	args A
	of   K
}

// part is what is known of the keys with equal arguments.
type part[A, K comparable, V any] struct {
	args   A
	values map[K]V
	errs   map[K]error
	// thunks are of keys that a batch waits for.
	thunks map[K]dataloader.Thunk[V]
}

// in returns the loader of the source in the response.
func (s *source[A, K, V]) in(ctx context.Context) *loader[A, K, V] {
	l := loadersFrom(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.slots[s.slot].(*loader[A, K, V])
	if !ok {
		known = &loader[A, K, V]{loaders: l, load: s.load}
		l.slots[s.slot] = known
	}
	return known
}

// value returns the value of a key; the zero value when there is none.
func (l *loader[A, K, V]) value(ctx context.Context, args A, of K) (V, error) {
	if value, known, err := l.find(args, of); known {
		return value, err
	}
	return l.batching().Load(ctx, key[A, K]{args, of})()
}

func (l *loader[A, K, V]) find(args A, of K) (value V, known bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(args)
	if value, known = p.values[of]; !known && p.errs != nil {
		err, known = p.errs[of]
	}
	return value, known, err
}

// part returns what is known with those arguments. The caller has the lock.
func (l *loader[A, K, V]) part(args A) *part[A, K, V] {
	for _, p := range l.parts {
		if p.args == args {
			return p
		}
	}
	p := &part[A, K, V]{args: args}
	l.parts = append(l.parts, p)
	return p
}

// fetch loads the keys and keeps what came of each, so that no field waits.
func (l *loader[A, K, V]) fetch(ctx context.Context, args A, keys []K) {
	for chunk := range slices.Chunk(keys, batchCap) {
		reportBatch(ctx, len(chunk))
		values, err := l.loadRecovering(ctx, args, chunk)
		if err != nil {
			l.fail(args, chunk, err)
		} else {
			l.keep(args, chunk, values)
		}
	}
}

// loadRecovering makes a panic the error of its keys: it may run outside of the
// goroutine of a field.
func (l *loader[A, K, V]) loadRecovering(ctx context.Context, args A, keys []K) (values map[K]V, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = graphql.GetOperationContext(ctx).RecoverFunc(ctx, fault)
		}
	}()
	return l.load(ctx, l.loaders, keys, args)
}

// keep notes the values of keys, also that there is none. The map is the loader's
// from then on.
func (l *loader[A, K, V]) keep(args A, keys []K, values map[K]V) {
	if values == nil {
		values = make(map[K]V, len(keys))
	}
	if len(values) < len(keys) {
		for _, of := range keys {
			if _, ok := values[of]; !ok {
				var none V
				values[of] = none
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.part(args); p.values == nil {
		p.values = values
	} else {
		maps.Copy(p.values, values)
	}
}

// fail notes the error of keys. Loading one of them again would be another batch,
// which a bound may let pass.
func (l *loader[A, K, V]) fail(args A, keys []K, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(args)
	if p.errs == nil {
		p.errs = make(map[K]error, len(keys))
	}
	for _, of := range keys {
		p.errs[of] = err
	}
}

// queue adds the keys that are not known to the batch of a level.
func (l *loader[A, K, V]) queue(level *plan.Level, args A, keys []K) {
	keys = l.missing(args, keys)
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

// missing returns the keys of which nothing is known.
func (l *loader[A, K, V]) missing(args A, keys []K) []K {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(args)
	if len(p.values)+len(p.errs) == 0 {
		return keys
	}
	return slices.DeleteFunc(keys, func(of K) bool {
		_, known := p.values[of]
		return known || p.errs[of] != nil
	})
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
