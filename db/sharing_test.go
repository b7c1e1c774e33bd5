package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/domain"
)

func TestWhatIsSharedIsNeverOlderThanTheQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			s                      sharing[int64]
			written, runs, running atomic.Int64
			asking                 sync.WaitGroup
		)
		run := func(ctx context.Context) (int64, error) {
			runs.Add(1)
			if at := running.Add(1); at > sideBySide {
				t.Errorf("%d run at a time", at)
			}
			defer running.Add(-1)
			seen := written.Load()
			select {
			case <-time.After(rand.N(20 * time.Millisecond)):
				return seen, nil
			case <-ctx.Done():
				return 0, Translate(ctx.Err())
			}
		}
		const askers = 1000
		for range askers {
			asking.Go(func() {
				time.Sleep(rand.N(time.Second))
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(60*time.Millisecond))
				defer cancel()
				mine := written.Add(1)
				got, err := s.answer(ctx, "SELECT", []any{1}, run)
				if public, ok := domain.AsError(err); err != nil && (ctx.Err() == nil || !ok || public.Kind != domain.KindUnavailable) {
					t.Errorf("got %v, while the caller has %v", err, ctx.Err())
				}
				if err == nil && got < mine {
					t.Errorf("%d was answered by %d", mine, got)
				}
			})
		}
		asking.Wait()
		if runs.Load() > askers/2 {
			t.Errorf("%d runs", runs.Load())
		}
		if len(s.asked) != 0 {
			t.Errorf("kept %v", s.asked)
		}
	})
}

func TestWhoPanicsLeavesTheStatementToAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			s         sharing[int]
			panics    atomic.Int64
			asking    sync.WaitGroup
			mishap    = errors.New("of the database")
			answered  atomic.Int64
			mishaps   atomic.Int64
			recovered atomic.Int64
		)
		panics.Store(2)
		run := func(context.Context) (int, error) {
			time.Sleep(time.Millisecond)
			if panics.Add(-1) >= 0 {
				panic("of one")
			}
			return 0, mishap
		}
		for range 10 {
			asking.Go(func() {
				defer func() {
					if recover() != nil {
						recovered.Add(1)
					}
				}()
				_, err := s.answer(t.Context(), "SELECT", nil, run)
				answered.Add(1)
				if errors.Is(err, mishap) {
					mishaps.Add(1)
				}
			})
		}
		asking.Wait()
		if recovered.Load() != 2 || answered.Load() != 8 || mishaps.Load() != 8 || len(s.asked) != 0 {
			t.Errorf("%d panicked, %d answered, %d of them by an error, kept %v", recovered.Load(), answered.Load(), mishaps.Load(), s.asked)
		}
	})
}

func TestWhatHangsDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			s      sharing[int]
			began  atomic.Int64
			asking sync.WaitGroup
		)
		run := func(context.Context) (int, error) {
			if began.Add(1) <= sideBySide {
				time.Sleep(time.Minute)
			}
			return 0, nil
		}
		for range sideBySide {
			asking.Go(func() { _, _ = s.answer(t.Context(), "SELECT", nil, run) })
		}
		synctest.Wait()
		for range 3 {
			asking.Go(func() {
				asked := time.Now()
				if _, err := s.answer(t.Context(), "SELECT", nil, run); err != nil || time.Since(asked) != sharedWait {
					t.Errorf("answered after %v, %v", time.Since(asked), err)
				}
			})
		}
		asking.Wait()
		if len(s.asked) != 0 {
			t.Errorf("kept %v", s.asked)
		}
	})
}

func TestOnlyTheSameIsShared(t *testing.T) {
	t.Parallel()
	text := "a"
	seen := map[string]int{}
	for i, asked := range []struct {
		query string
		args  []any
	}{
		{"SELECT", nil},
		{"SELECT 1", nil},
		{"SELECT", []any{nil}},
		{"SELECT", []any{int64(1)}},
		{"SELECT", []any{"1"}},
		{"SELECT", []any{"a", "b"}},
		{"SELECT", []any{"ab", ""}},
		{"SELECT", []any{"a\x00string 1 b"}},
		{"SELECT", []any{&text}},
		{"SELECT", []any{time.Unix(1, 0)}},
		{"SELECT", []any{time.Unix(1, 1)}},
	} {
		key, err := sharingKey(asked.query, asked.args)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%d is taken for %d", i, other)
		}
		seen[key] = i
	}
	if _, err := sharingKey("SELECT", []any{struct{}{}}); err == nil {
		t.Error("what cannot be told apart is shared")
	}
}
