package resolvers

import (
	"context"

	"github.com/graph-gophers/dataloader/v7"
)

// batching returns the dataloader for keys that were not prefetched: those of
// subscriptions and of whatever else gqlgen's executor answers.
func (l *loader[A, K, V]) batching() *dataloader.Loader[key[A, K], V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = dataloader.NewBatchedLoader(l.batch, dataloader.WithCache[key[A, K], V](l),
			dataloader.WithWait[key[A, K], V](batchWait), dataloader.WithBatchCapacity[key[A, K], V](batchCap))
	}
	return l.waiting
}

// batch loads the keys with one statement for each group of equal arguments.
func (l *loader[A, K, V]) batch(ctx context.Context, keys []key[A, K]) []*dataloader.Result[V] {
	var args []A
	of := map[A][]K{}
	for _, k := range keys {
		if of[k.args] == nil {
			args = append(args, k.args)
		}
		of[k.args] = append(of[k.args], k.of)
	}
	for _, a := range args {
		l.fetch(ctx, a, of[a])
	}
	results := make([]*dataloader.Result[V], len(keys))
	for i, k := range keys {
		value, _, err := l.find(k.args, k.of)
		results[i] = &dataloader.Result[V]{Data: value, Error: err}
	}
	return results
}

// Get implements dataloader.Cache, as do the following.
func (l *loader[A, K, V]) Get(_ context.Context, k key[A, K]) (dataloader.Thunk[V], bool) {
	if value, known, err := l.find(k.args, k.of); known {
		return func() (V, error) { return value, err }, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	thunk, waits := l.part(k.args).thunks[k.of]
	return thunk, waits
}

// Set notes a key that a batch waits for.
func (l *loader[A, K, V]) Set(_ context.Context, k key[A, K], thunk dataloader.Thunk[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(k.args)
	if p.thunks == nil {
		p.thunks = map[K]dataloader.Thunk[V]{}
	}
	p.thunks[k.of] = thunk
}

// Delete forgets a key.
func (l *loader[A, K, V]) Delete(_ context.Context, k key[A, K]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(k.args)
	_, known := p.thunks[k.of]
	delete(p.thunks, k.of)
	return known
}

// Clear forgets all keys.
func (l *loader[A, K, V]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = nil
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
