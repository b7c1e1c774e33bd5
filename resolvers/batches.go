package resolvers

import (
	"context"
	"slices"
)

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

// eachAlike runs one statement for all keys that ask for the same of different
// objects.
func eachAlike[K, A, O comparable, V any](
	split func(K) (A, O), join func(A, O) K, load func(context.Context, []O, A) (map[O]V, error),
) loadInto[K, V] {
	return func(ctx context.Context, keys []K, into map[K]V) error {
		for _, batch := range batchesOf(keys, split) {
			tellBatch(ctx, len(batch.of))
			loaded, err := load(ctx, batch.of, batch.asked)
			if err != nil {
				return err
			}
			for of, value := range loaded {
				into[join(batch.asked, of)] = value
			}
		}
		return nil
	}
}

// batch is what is asked of some objects.
type batch[A, O any] struct {
	asked A
	of    []O
}

// batchesOf looks through the batches for each key: there are few, mostly one.
func batchesOf[K, A, O comparable](keys []K, split func(K) (A, O)) []batch[A, O] {
	var batches []batch[A, O]
	for _, key := range keys {
		asked, of := split(key)
		i := slices.IndexFunc(batches, func(b batch[A, O]) bool { return b.asked == asked })
		if i < 0 {
			i = len(batches)
			batches = append(batches, batch[A, O]{asked: asked})
		}
		batches[i].of = append(batches[i].of, of)
	}
	return batches
}
