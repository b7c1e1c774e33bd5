package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"time"
)

// sideBySide is how many statements that ask the same run at once. So many
// callers are answered as fast as if they were alone; more share what comes next.
const sideBySide = 2

// sharedWait is how long a caller waits before he asks alone: what others run may
// hang on a connection that is dead.
const sharedWait = 2 * time.Second

// sharing answers callers who ask the same at the same time by one statement. It
// begins after all of them have asked: everybody reads what was written before.
//
// Its zero value is ready.
type sharing[V any] struct {
	mu    sync.Mutex
	asked map[string]*sharedQuestion[V]
}

// sharedQuestion is what some are being answered.
type sharedQuestion[V any] struct {
	running int
	// next runs when one of those ends; nil while nobody waits for it.
	next *sharedAnswer[V]
}

// sharedAnswer is that of one statement, for all who joined it before it began.
type sharedAnswer[V any] struct {
	members int
	// lead holds the right to run the statement, until a member takes it.
	lead chan struct{}
	done chan struct{}

	// value and err are there when done is closed.
	value V
	err   error
}

func newSharedAnswer[V any]() *sharedAnswer[V] {
	return &sharedAnswer[V]{lead: make(chan struct{}, 1), done: make(chan struct{})}
}

// answer runs a query of that text and those arguments, or shares another
// caller's answer. What is shared must not be changed.
func (s *sharing[V]) answer(ctx context.Context, query string, args []any, run func(context.Context) (V, error)) (V, error) {
	key, err := sharingKey(query, args)
	if err != nil {
		return run(ctx)
	}
	a := s.join(key)
	select {
	case <-a.done:
		return a.value, a.err
	case <-a.lead:
		return s.run(ctx, key, a, run)
	case <-time.After(sharedWait):
		s.leave(key, a, false)
		return run(ctx)
	case <-ctx.Done():
		s.leave(key, a, false)
		var none V
		return none, Translate(ctx.Err())
	}
}

func (s *sharing[V]) join(key string) *sharedAnswer[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.asked[key]
	if of == nil {
		of = &sharedQuestion[V]{}
		if s.asked == nil {
			s.asked = map[string]*sharedQuestion[V]{}
		}
		s.asked[key] = of
	}
	if of.next == nil {
		of.next = newSharedAnswer[V]()
	}
	a := of.next
	a.members++
	if of.running < sideBySide {
		of.begin()
	}
	return a
}

// begin has one of the members run the next. The caller has the lock.
func (of *sharedQuestion[V]) begin() {
	of.next.lead <- struct{}{}
	of.next = nil
	of.running++
}

// run answers all members. One whose own time is over, or who panics, leaves it
// to another.
func (s *sharing[V]) run(ctx context.Context, key string, a *sharedAnswer[V], run func(context.Context) (V, error)) (value V, err error) {
	answered := false
	defer func() {
		if !answered {
			s.leave(key, a, true)
		}
	}()
	if value, err = run(ctx); err != nil && ctx.Err() != nil {
		return value, err
	}
	answered = true
	a.value, a.err = value, err
	close(a.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(key)
	return value, err
}

// leave is for a member that does not wait any longer.
func (s *sharing[V]) leave(key string, a *sharedAnswer[V], led bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.asked[key]
	a.members--
	switch {
	case a.members > 0 && led:
		a.lead <- struct{}{}
	case a.members > 0:
	case a == of.next:
		of.next = nil
	default:
		s.end(key)
	}
}

// end is the end of one that ran. The caller has the lock.
func (s *sharing[V]) end(key string) {
	of := s.asked[key]
	of.running--
	switch {
	case of.next != nil:
		of.begin()
	case of.running == 0:
		delete(s.asked, key)
	}
}

// sharingKey tells queries apart. It fails for arguments that only a driver
// understands.
func sharingKey(query string, args []any) (string, error) {
	var key strings.Builder
	key.WriteString(query)
	for _, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return "", err
		}
		text := fmt.Sprint(value)
		_, _ = fmt.Fprintf(&key, "\x00%T %d %s", value, len(text), text)
	}
	return key.String(), nil
}
