package flight_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/internal/flight"
)

// queries is a group whose calls are run as they are, by the first of a flight.
type queries = flight.Group[string, func(context.Context) (int, error), int]

func newQueries(sideBySide int) *queries {
	return &queries{SideBySide: sideBySide, Run: func(ctx context.Context, _ string, calls []func(context.Context) (int, error)) []flight.Result[int] {
		value, err := calls[0](ctx)
		return flight.Same(len(calls), value, err)
	}}
}

// result is what a caller got, and when.
type result struct {
	value int
	err   error
	at    time.Duration
}

// lasting is a call that takes a time and returns a value, or ends with its context.
func lasting(d time.Duration, value int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return value, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// start calls in a goroutine, and returns when the call waits.
func start(ctx context.Context, g *queries, key string, call func(context.Context) (int, error)) <-chan result {
	began, got := time.Now(), make(chan result, 1)
	go func() {
		value, err := g.Do(ctx, key, call)
		got <- result{value, err, time.Since(began)}
	}()
	synctest.Wait()
	return got
}

func TestAResultIsNeverOlderThanItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const sideBySide, callers = 2, 1000
		var (
			g                      = newQueries(sideBySide)
			written, runs, running atomic.Int64
			calling                sync.WaitGroup
		)
		run := func(ctx context.Context) (int, error) {
			runs.Add(1)
			if at := running.Add(1); at > sideBySide {
				t.Errorf("%d run at a time", at)
			}
			defer running.Add(-1)
			return lasting(rand.N(20*time.Millisecond), int(written.Load()))(ctx)
		}
		for range callers {
			calling.Go(func() {
				time.Sleep(rand.N(time.Second))
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(60*time.Millisecond))
				defer cancel()
				mine := int(written.Add(1))
				got, err := g.Do(ctx, "same", run)
				if err != nil && !errors.Is(err, ctx.Err()) {
					t.Errorf("got %v, while the caller has %v", err, ctx.Err())
				}
				if err == nil && got < mine {
					t.Errorf("call %d got %d", mine, got)
				}
			})
		}
		calling.Wait()
		if runs.Load() > callers/2 {
			t.Errorf("%d runs", runs.Load())
		}
		synctest.Wait()
		if kept := flight.Kept(g); kept != 0 {
			t.Errorf("%d keys are kept", kept)
		}
	})
}

func TestACallThatComesWhileAnotherRunsGetsTheNextResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		first := start(t.Context(), g, "a", lasting(10*time.Second, 1))
		second := start(t.Context(), g, "a", lasting(10*time.Second, 2))
		third := start(t.Context(), g, "a", lasting(10*time.Second, 3))
		other := start(t.Context(), g, "b", lasting(time.Second, 4))
		for name, c := range map[string]struct {
			of   <-chan result
			want result
		}{
			"first": {first, result{1, nil, 10 * time.Second}}, "second": {second, result{2, nil, 20 * time.Second}},
			"third": {third, result{2, nil, 20 * time.Second}}, "of another key": {other, result{4, nil, time.Second}},
		} {
			if got := <-c.of; got != c.want {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	})
}

func TestACallerThatGoesAwayDoesNotFailThoseWhoShareItsLookUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		running := start(t.Context(), g, "a", lasting(time.Second, 1))
		leaving, leave := context.WithCancel(t.Context())
		first := start(leaving, g, "a", lasting(time.Minute, 2))
		second := start(t.Context(), g, "a", lasting(time.Hour, 3))
		<-running // the flight of both begins, by the call of the first
		synctest.Wait()
		leave()
		if got := <-first; !errors.Is(got.err, context.Canceled) || got.at != time.Second {
			t.Errorf("the one that left got %v", got)
		}
		if got := <-second; got != (result{2, nil, time.Minute + time.Second}) {
			t.Errorf("the one that stayed got %v", got)
		}
	})
}

func TestACallerThatGoesAwayBeforeItsFlightLeavesItsCallOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		_ = start(t.Context(), g, "a", lasting(time.Second, 1))
		leaving, leave := context.WithCancel(t.Context())
		_ = start(leaving, g, "a", lasting(time.Minute, 2))
		second := start(t.Context(), g, "a", lasting(time.Hour, 3))
		leave()
		if got := <-second; got != (result{3, nil, time.Hour + time.Second}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestAFlightThatNobodyWaitsForEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		ended := make(chan time.Duration, 1)
		began := time.Now()
		leaving, leave := context.WithCancel(t.Context())
		first := start(leaving, g, "a", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			ended <- time.Since(began)
			return 0, ctx.Err()
		})
		leavingSooner, leaveSooner := context.WithCancel(t.Context())
		second := start(leavingSooner, g, "a", func(context.Context) (int, error) {
			t.Error("a call is run that nobody waits for")
			return 0, nil
		})
		leaveSooner()
		<-second
		time.Sleep(time.Second)
		leave()
		<-first
		if after := <-ended; after != time.Second {
			t.Errorf("it ended after %v", after)
		}
		synctest.Wait()
		if kept := flight.Kept(g); kept != 0 {
			t.Errorf("%d keys are kept", kept)
		}
		if _, err := g.Do(leaving, "a", lasting(0, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("a call of a context that has ended: %v", err)
		}
	})
}

type nameKey struct{}

func TestTheContextOfAFlightHasTheValuesOfItsFirstCallAndNotItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), nameKey{}, "first"), time.Hour)
		defer cancel()
		got := <-start(ctx, g, "a", func(ctx context.Context) (int, error) {
			if _, limited := ctx.Deadline(); limited || ctx.Value(nameKey{}) != "first" {
				t.Errorf("a deadline: %t, the value %v", limited, ctx.Value(nameKey{}))
			}
			return 1, nil
		})
		if got.value != 1 || got.err != nil {
			t.Errorf("got %v", got)
		}
	})
}

func TestAPanicReachesEachCallerAndNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newQueries(0)
		var panics atomic.Int64
		_ = start(t.Context(), g, "a", lasting(time.Second, 1))
		var calling sync.WaitGroup
		for range 3 {
			calling.Go(func() {
				defer func() {
					if text, _ := recover().(string); strings.HasPrefix(text, "of a bug") && strings.Contains(text, "flight_test.go") {
						panics.Add(1)
					}
				}()
				_, _ = g.Do(t.Context(), "a", func(context.Context) (int, error) { panic("of a bug") })
			})
		}
		calling.Wait()
		if panics.Load() != 3 {
			t.Errorf("%d of 3 callers panicked", panics.Load())
		}
		if got := <-start(t.Context(), g, "a", lasting(0, 2)); got.value != 2 || got.err != nil {
			t.Errorf("afterwards: %v", got)
		}
	})
}

func TestAFlightBeginsBesideOthersThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const patience = 2 * time.Second
		g := newQueries(2)
		g.Patience = patience
		for range 2 {
			_ = start(t.Context(), g, "a", lasting(time.Hour, 0))
		}
		var waiting []<-chan result
		for i := range 3 {
			waiting = append(waiting, start(t.Context(), g, "a", lasting(0, i+1)))
		}
		for _, one := range waiting {
			if got := <-one; got != (result{1, nil, patience}) {
				t.Errorf("got %v", got)
			}
		}
		if got := <-start(t.Context(), g, "a", lasting(0, 9)); got != (result{9, nil, patience}) {
			t.Errorf("the next got %v", got)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if kept := flight.Kept(g); kept != 0 {
			t.Errorf("%d keys are kept", kept)
		}
	})
}

// batches is a group that adds up its calls, a second for each flight.
type batches struct {
	flight.Group[string, int, int]

	mu      sync.Mutex
	flights [][]int
}

func newBatches() *batches {
	b := new(batches)
	b.Weigh, b.MaxFlight, b.MaxWaiting = func(call int) int { return call }, 10, 25
	b.Run = func(_ context.Context, _ string, calls []int) []flight.Result[int] {
		b.mu.Lock()
		b.flights = append(b.flights, calls)
		b.mu.Unlock()
		time.Sleep(time.Second)
		results := make([]flight.Result[int], len(calls))
		for i, call := range calls {
			results[i].Value = 100 * call
		}
		return results
	}
	return b
}

func TestFlightsAreBoundedByWeightAndEachCallGetsItsResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		var calling sync.WaitGroup
		for _, call := range []int{30, 4, 5, 2, 8, 1} {
			calling.Go(func() {
				if got, err := b.Do(t.Context(), "a", call); got != 100*call || err != nil {
					t.Errorf("%d: got %d, %v", call, got, err)
				}
			})
			synctest.Wait()
		}
		calling.Wait()
		want := [][]int{{30}, {4, 5}, {2, 8}, {1}}
		if !slices.EqualFunc(b.flights, want, slices.Equal) {
			t.Errorf("got %v, want %v", b.flights, want)
		}
	})
}

func TestMoreThanMayWaitIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		leaving, leave := context.WithCancel(t.Context())
		var calling sync.WaitGroup
		do := func(ctx context.Context, call int) {
			calling.Go(func() { _, _ = b.Do(ctx, "a", call) })
			synctest.Wait()
		}
		for _, call := range []int{30, 9, 9, 6} {
			do(t.Context(), call)
		}
		do(leaving, 1)
		if _, err := b.Do(t.Context(), "a", 1); !errors.Is(err, flight.ErrFull) {
			t.Errorf("got %v", err)
		}
		if got, err := b.Do(t.Context(), "b", 30); got != 3000 || err != nil {
			t.Errorf("of another key: %d, %v", got, err)
		}
		leave()
		calling.Wait()
		if got, err := b.Do(t.Context(), "a", 1); got != 100 || err != nil {
			t.Errorf("afterwards: %d, %v", got, err)
		}
	})
}

func TestACallerThatGoesAwayMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		leaving, leave := context.WithCancel(t.Context())
		var calling sync.WaitGroup
		for _, call := range []int{30, 10, 10} {
			calling.Go(func() { _, _ = b.Do(t.Context(), "a", call) })
			synctest.Wait()
		}
		calling.Go(func() { _, _ = b.Do(leaving, "a", 5) })
		synctest.Wait()
		leave()
		synctest.Wait()
		if got, err := b.Do(t.Context(), "a", 5); got != 500 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		calling.Wait()
	})
}
