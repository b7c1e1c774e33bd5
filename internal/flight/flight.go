// Package flight lets callers who need the same at the same time share the work.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Group runs the calls of each key in flights. A flight takes no more calls once
// it has begun, so that a caller never gets what was found out before it called.
// Calls that come while as many flights run as may wait for the next, which begins
// when one ends.
//
// A flight belongs to none of its callers: it goes on when the one that called
// first goes away, and its context ends when no caller waits any longer.
//
// The exported fields must not change once Do was called.
type Group[K comparable, C, R any] struct {
	// Run does the work of a flight. It returns a result for each of the calls, in
	// their order. ctx has the values of the first one.
	Run func(ctx context.Context, key K, calls []C) []Result[R]
	// SideBySide is how many flights of a key run at once; 0 stands for 1.
	SideBySide int
	// Patience, unless 0, is how long a flight waits for another to end, before it
	// begins beside it.
	Patience time.Duration
	// Weigh, unless nil, returns the weight of a call. A flight takes calls of up to
	// MaxFlight together; of those that wait, a key has up to MaxWaiting.
	Weigh                 func(C) int
	MaxFlight, MaxWaiting int

	mu   sync.Mutex
	keys map[K]*flights[C, R]
}

// Result is what a call gets.
type Result[R any] struct {
	Value R
	Err   error
}

// Same returns n times the same result.
func Same[R any](n int, value R, err error) []Result[R] {
	return slices.Repeat([]Result[R]{{value, err}}, n)
}

// ErrFull is returned when too much waits already.
var ErrFull = errors.New("too many calls wait")

// flights are those of a key.
type flights[C, R any] struct {
	running int
	waiting []*flight[C, R]
	// weight is that of the calls that wait.
	weight int
}

type flight[C, R any] struct {
	calls  []*call[C, R]
	weight int
	// begin is the timer of Patience.
	begin *time.Timer
	// cancel is nil until the flight has begun; callers are those that wait for it
	// then.
	cancel  context.CancelFunc
	callers int
	done    chan struct{}
	// panicked is set before done is closed, like the results.
	panicked any
}

type call[C, R any] struct {
	ctx    context.Context
	of     C
	weight int
	result Result[R]
}

// Do returns the result of a call, or the error of its context. When Run panics,
// each of its callers does.
func (g *Group[K, C, R]) Do(ctx context.Context, key K, of C) (R, error) {
	c := &call[C, R]{ctx: ctx, of: of}
	if g.Weigh != nil {
		c.weight = g.Weigh(of)
	}
	f, err := g.join(key, c)
	if err != nil {
		return c.result.Value, err
	}
	select {
	case <-f.done:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return c.result.Value, c.result.Err
	case <-ctx.Done():
		g.leave(key, f, c)
		var none R
		return none, ctx.Err()
	}
}

func (g *Group[K, C, R]) join(key K, c *call[C, R]) (*flight[C, R], error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.keys[key]
	if of == nil {
		of = new(flights[C, R])
		if g.keys == nil {
			g.keys = map[K]*flights[C, R]{}
		}
		g.keys[key] = of
	}
	if g.MaxWaiting > 0 && of.running > 0 && of.weight+c.weight > g.MaxWaiting {
		return nil, ErrFull
	}
	f := g.next(key, of, c.weight)
	f.calls = append(f.calls, c)
	f.weight += c.weight
	of.weight += c.weight
	g.beginNext(key, of)
	return f, nil
}

// next returns the flight that takes a call.
func (g *Group[K, C, R]) next(key K, of *flights[C, R], weight int) *flight[C, R] {
	if last := len(of.waiting) - 1; last >= 0 && (g.MaxFlight == 0 || of.waiting[last].weight+weight <= g.MaxFlight) {
		return of.waiting[last]
	}
	f := &flight[C, R]{done: make(chan struct{})}
	if g.Patience > 0 && of.running >= max(1, g.SideBySide) {
		f.begin = time.AfterFunc(g.Patience, func() { g.beginLate(key, f) })
	}
	of.waiting = append(of.waiting, f)
	return f
}

// beginNext begins the flight that waits longest, if it may run. The caller holds
// the lock.
func (g *Group[K, C, R]) beginNext(key K, of *flights[C, R]) {
	if len(of.waiting) > 0 && of.running < max(1, g.SideBySide) {
		g.begin(key, of, of.waiting[0])
	}
}

func (g *Group[K, C, R]) beginLate(key K, f *flight[C, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if of := g.keys[key]; of != nil && slices.Contains(of.waiting, f) {
		g.begin(key, of, f)
	}
}

func (g *Group[K, C, R]) begin(key K, of *flights[C, R], f *flight[C, R]) {
	of.drop(f)
	of.running++
	f.callers = len(f.calls)
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(f.calls[0].ctx))
	go g.run(ctx, key, f)
}

// drop takes a flight off those that wait.
func (of *flights[C, R]) drop(f *flight[C, R]) {
	if f.begin != nil {
		f.begin.Stop()
	}
	of.waiting = slices.DeleteFunc(of.waiting, func(other *flight[C, R]) bool { return other == f })
	of.weight -= f.weight
}

func (g *Group[K, C, R]) run(ctx context.Context, key K, f *flight[C, R]) {
	defer g.end(key, f)
	returned := false
	defer func() {
		if !returned {
			f.panicked = fmt.Sprintf("%v\n\n%s", recover(), debug.Stack())
		}
	}()
	calls := make([]C, len(f.calls))
	for i, c := range f.calls {
		calls[i] = c.of
	}
	results := g.Run(ctx, key, calls)
	for i, c := range f.calls {
		c.result = results[i]
	}
	returned = true
}

func (g *Group[K, C, R]) end(key K, f *flight[C, R]) {
	f.cancel()
	close(f.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.keys[key]
	of.running--
	g.beginNext(key, of)
	if of.running == 0 {
		delete(g.keys, key)
	}
}

// leave is for a caller that does not wait any longer. A flight that has not begun
// goes without its call.
func (g *Group[K, C, R]) leave(key K, f *flight[C, R], c *call[C, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.cancel != nil {
		if f.callers--; f.callers == 0 {
			f.cancel()
		}
		return
	}
	f.calls = slices.DeleteFunc(f.calls, func(other *call[C, R]) bool { return other == c })
	of := g.keys[key]
	f.weight -= c.weight
	of.weight -= c.weight
	if len(f.calls) == 0 {
		of.drop(f)
	}
}
