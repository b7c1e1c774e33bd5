package resolvers

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"simgraph/graph/plan"
)

// batched returns a context with fresh loaders and a source that counts loads.
func batched(t *testing.T) (context.Context, *source[string, int, int], *[]int) {
	t.Helper()
	sizes := &[]int{}
	twice := &source[string, int, int]{load: func(_ context.Context, _ *loaders, keys []int, _ string) (map[int]int, error) {
		*sizes = append(*sizes, len(keys))
		values := map[int]int{}
		for _, of := range keys {
			values[of] = 2 * of
		}
		return values, nil
	}}
	return context.WithValue(t.Context(), loadersKey{}, &loaders{slots: make([]any, 1)}), twice, sizes
}

func TestKeysThatWereNotPrefetchedShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, twice, sizes := batched(t)
		var level plan.Level
		twice.in(ctx).queue(&level, "a", []int{0, 1, 1, 0})
		level.Batches[0].Load(ctx)
		var all sync.WaitGroup
		for of := range 100 {
			all.Go(func() {
				if got, err := twice.in(ctx).value(ctx, "a", of); got != 2*of || err != nil {
					t.Errorf("%d: %d, %v", of, got, err)
				}
			})
		}
		all.Wait()
		if len(*sizes) != 2 || (*sizes)[0] != 2 || (*sizes)[1] != 98 {
			t.Errorf("loads of %v keys", *sizes)
		}
	})
}

func TestOtherArgumentsAreAnotherLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, twice, sizes := batched(t)
		var all sync.WaitGroup
		for _, args := range []string{"a", "b"} {
			for of := range 3 {
				all.Go(func() { _, _ = twice.in(ctx).value(ctx, args, of) })
			}
		}
		all.Wait()
		if len(*sizes) != 2 {
			t.Errorf("loads of %v keys", *sizes)
		}
	})
}
