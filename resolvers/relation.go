package resolvers

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"simgraph/domain"
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
	load loadInto[K, V]

	mu sync.Mutex
	// loader is made for the first key that was not loaded ahead.
	loader *dataloader.Loader[K, V]
	// primed are the values that were loaded ahead.
	primed map[K]V
	// refused are the errors of what was too much for one batch. Loading that
	// again would split it over batches that a bound lets pass one by one.
	refused map[K]error
}

// loadInto puts the values that there are of the keys into a map.
type loadInto[K comparable, V any] func(ctx context.Context, keys []K, into map[K]V) error

func newRelation[K comparable, V any](load loadInto[K, V]) *relation[K, V] {
	return &relation[K, V]{load: load}
}

func (r *relation[K, V]) batch(ctx context.Context, keys []K) []*dataloader.Result[V] {
	values := make(map[K]V, len(keys))
	err := r.load(ctx, keys, values)
	results := make([]*dataloader.Result[V], len(keys))
	for i, key := range keys {
		results[i] = &dataloader.Result[V]{Data: values[key], Error: err}
	}
	return results
}

// of returns the value of a key; the zero value when there is none.
func (r *relation[K, V]) of(ctx context.Context, key K) (V, error) {
	r.mu.Lock()
	value, ok := r.primed[key]
	refused := r.refused[key]
	r.mu.Unlock()
	if ok || refused != nil {
		return value, refused
	}
	if err := plan.Postpone(ctx); err != nil {
		return value, err
	}
	return r.batching().Load(ctx, key)()
}

func (r *relation[K, V]) batching() *dataloader.Loader[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loader == nil {
		r.loader = dataloader.NewBatchedLoader(r.batch,
			dataloader.WithWait[K, V](batchWait), dataloader.WithBatchCapacity[K, V](batchCap))
	}
	return r.loader
}

// ahead loads the values of many objects at once, before their fields are
// resolved, so that no field has to wait for a batch to fill. When it fails the
// fields load for themselves and report the error.
func (r *relation[K, V]) ahead(ctx context.Context, keys []K) {
	missing, values := r.missing(keys)
	for len(missing) > 0 {
		chunk := missing[:min(len(missing), batchCap)]
		if err := r.load(ctx, chunk, values); err != nil {
			r.refuse(chunk, err)
			break
		}
		missing = missing[len(chunk):]
	}
	for _, key := range missing {
		delete(values, key)
	}
	r.keep(values)
}

// aheadValues is ahead for who goes on to what is below: it returns the values
// that are known then.
func (r *relation[K, V]) aheadValues(ctx context.Context, keys []K) map[K]V {
	r.ahead(ctx, keys)
	return r.known(keys)
}

// known returns the values that were loaded ahead.
func (r *relation[K, V]) known(keys []K) map[K]V {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := make(map[K]V, len(keys))
	for _, key := range keys {
		if value, ok := r.primed[key]; ok {
			values[key] = value
		}
	}
	return values
}

// missing returns the keys without a value, each once, and a map that has the
// zero value of each.
func (r *relation[K, V]) missing(keys []K) ([]K, map[K]V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing, values := make([]K, 0, len(keys)), make(map[K]V, len(keys))
	var none V
	for _, key := range keys {
		if _, known := r.primed[key]; known {
			continue
		}
		if values[key] = none; len(values) > len(missing) {
			missing = append(missing, key)
		}
	}
	return missing, values
}

// keep remembers the values. The map is the relation's from then on.
func (r *relation[K, V]) keep(values map[K]V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.primed == nil {
		r.primed = values
		return
	}
	maps.Copy(r.primed, values)
}

// refuse remembers an error that would be the same again.
func (r *relation[K, V]) refuse(keys []K, err error) {
	if public, ok := domain.AsError(err); !ok || public.Kind != domain.KindInvalid {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = make(map[K]error, len(keys))
	}
	for _, key := range keys {
		r.refused[key] = err
	}
}

// prime tells a value that came with something else.
func (r *relation[K, V]) prime(key K, value V) { r.keep(map[K]V{key: value}) }

func (r *relation[K, V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.primed)
	clear(r.refused)
	if r.loader != nil {
		r.loader.ClearAll()
	}
}
