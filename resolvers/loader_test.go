package resolvers

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

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
		twice.in(ctx).queue(ctx, &level, "a", []int{0, 1, 1, 0})
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

// responded loads values in a response of its own: one that is prefetched, one that is
// not, and one that fails. It returns what holds them.
func responded(t *testing.T) (kept weak.Pointer[loaders], values []weak.Pointer[int]) {
	t.Helper()
	pointed := &source[string, int, *int]{load: func(_ context.Context, _ *loaders, keys []int, args string) (map[int]*int, error) {
		if args == "fails" {
			return nil, errors.New("it fails")
		}
		found := map[int]*int{}
		for _, of := range keys {
			found[of] = new(of)
		}
		return found, nil
	}}
	l := &loaders{slots: make([]any, 1)}
	ctx := context.WithValue(t.Context(), loadersKey{}, l)
	for _, args := range []string{"works", "fails"} {
		var level plan.Level
		pointed.in(ctx).queue(ctx, &level, args, []int{1})
		level.Batches[0].Load(ctx)
		for of := 1; of <= 2; of++ {
			value, err := pointed.in(ctx).value(ctx, args, of)
			if (err != nil) != (args == "fails") || err == nil && *value != of {
				t.Errorf("%s %d: %v, %v", args, of, value, err)
			}
			values = append(values, weak.Make(value))
		}
	}
	return weak.Make(l), values
}

func TestNothingThatWasLoadedOutlivesTheResponse(t *testing.T) {
	kept, values := responded(t)
	holds := func() bool {
		for _, of := range values {
			if of.Value() != nil {
				return true
			}
		}
		return kept.Value() != nil
	}
	for end := time.Now().Add(10 * time.Second); holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("loaders or values are kept")
		}
		runtime.GC()
	}
}
