package resolvers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"simgraph/graph/plan"
)

const (
	// batchWait is how long a loader waits for more keys. Shorter splits
	// batches, longer adds to the latency of every level of a query.
	batchWait = time.Millisecond
	// batchCap bounds the keys of one statement.
	batchCap = 1000
)

// relation loads one relation of many objects with one statement. It lives as
// long as a response.
type relation[K comparable, V any] struct {
	loader *dataloader.Loader[K, V]
	load   func(ctx context.Context, keys []K) (map[K]V, error)

	mu sync.Mutex
	// primed are the values that were loaded ahead.
	primed map[K]V
}

func newRelation[K comparable, V any](load func(ctx context.Context, keys []K) (map[K]V, error)) *relation[K, V] {
	batch := func(ctx context.Context, keys []K) []*dataloader.Result[V] {
		values, err := load(ctx, keys)
		results := make([]*dataloader.Result[V], len(keys))
		for i, key := range keys {
			results[i] = &dataloader.Result[V]{Data: values[key], Error: err}
		}
		return results
	}
	return &relation[K, V]{
		loader: dataloader.NewBatchedLoader(batch,
			dataloader.WithWait[K, V](batchWait), dataloader.WithBatchCapacity[K, V](batchCap)),
		load:   load,
		primed: map[K]V{},
	}
}

// of returns the value of a key; the zero value when there is none.
func (r *relation[K, V]) of(ctx context.Context, key K) (V, error) {
	r.mu.Lock()
	value, ok := r.primed[key]
	r.mu.Unlock()
	if ok {
		return value, nil
	}
	if err := plan.Postpone(ctx); err != nil {
		return value, err
	}
	return r.loader.Load(ctx, key)()
}

// ahead loads the values of many objects at once, before their fields are
// resolved, so that no field has to wait for a batch to fill. When it fails the
// fields load for themselves and report the error.
func (r *relation[K, V]) ahead(ctx context.Context, keys []K) map[K]V {
	values, missing := r.known(keys)
	for chunk := range slices.Chunk(missing, batchCap) {
		loaded, err := r.load(ctx, chunk)
		if err != nil {
			return values
		}
		r.mu.Lock()
		for _, key := range chunk {
			values[key], r.primed[key] = loaded[key], loaded[key]
		}
		r.mu.Unlock()
	}
	return values
}

// known splits keys into those with a value and the rest, each once.
func (r *relation[K, V]) known(keys []K) (values map[K]V, missing []K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	values = make(map[K]V, len(keys))
	seen := make(map[K]struct{}, len(keys))
	for _, key := range keys {
		if _, again := seen[key]; again {
			continue
		}
		seen[key] = struct{}{}
		if value, ok := r.primed[key]; ok {
			values[key] = value
		} else {
			missing = append(missing, key)
		}
	}
	return values, missing
}

// prime tells a value that came with something else.
func (r *relation[K, V]) prime(key K, value V) {
	r.mu.Lock()
	r.primed[key] = value
	r.mu.Unlock()
}

func (r *relation[K, V]) clear() {
	r.mu.Lock()
	clear(r.primed)
	r.mu.Unlock()
	r.loader.ClearAll()
}
