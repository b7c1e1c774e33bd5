package live

import (
	"context"
	"sync"

	"simgraph/domain"
)

// backlog is what a stream has yet to take, bounded: each key once, in the
// order of its first event. A reader that falls behind loses the stream, not
// single events of it.
type backlog[K comparable, V any] struct {
	// wanted returns the keys to keep; nil keeps all.
	wanted func(K) bool
	merge  func(earlier, later V) V
	limit  int

	mu     sync.Mutex
	keys   []K
	values map[K]V
	err    error
	// filled has room for one sign that there is something to take, failed is
	// closed with err.
	filled chan struct{}
	failed chan struct{}
}

// newBacklog makes a backlog; merge, where it is not nil, combines the values
// of events with the same key.
func newBacklog[K comparable, V any](limit int, merge func(earlier, later V) V) *backlog[K, V] {
	return &backlog[K, V]{
		merge: merge, limit: limit, values: map[K]V{},
		filled: make(chan struct{}, 1), failed: make(chan struct{}),
	}
}

func (b *backlog[K, V]) put(key K, value V) {
	if b.wanted != nil && !b.wanted(key) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	earlier, waits := b.values[key]
	switch {
	case b.err != nil:
		return
	case waits && b.merge != nil:
		value = b.merge(earlier, value)
	case !waits && len(b.keys) == b.limit:
		b.failLocked(domain.ErrUnread())
		return
	case !waits:
		b.keys = append(b.keys, key)
	}
	b.values[key] = value
	select {
	case b.filled <- struct{}{}:
	default:
	}
}

func (b *backlog[K, V]) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failLocked(err)
}

func (b *backlog[K, V]) failLocked(err error) {
	if b.err == nil {
		b.err = err
		close(b.failed)
	}
}

func (b *backlog[K, V]) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// take waits for events and removes the first of them. It returns none when
// ctx ends or the backlog fails.
func (b *backlog[K, V]) take(ctx context.Context, most int) ([]K, []V) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-b.failed:
			return nil, nil
		case <-b.filled:
		}
		if keys, values := b.cut(most); len(keys) > 0 {
			return keys, values
		}
	}
}

func (b *backlog[K, V]) cut(most int) (keys []K, values []V) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(most, len(b.keys))
	keys, b.keys = b.keys[:n:n], b.keys[n:]
	for _, key := range keys {
		values = append(values, b.values[key])
		delete(b.values, key)
	}
	if len(b.keys) > 0 {
		select {
		case b.filled <- struct{}{}:
		default:
		}
	}
	return keys, values
}

// follow streams what load makes of the backlog, until ctx ends or it fails.
func follow[K comparable, V, T any](ctx context.Context, b *backlog[K, V], leave func(), load func(context.Context, []K, []V) ([]T, error)) *domain.Stream[T] {
	events := make(chan T)
	go func() {
		defer close(events)
		defer leave()
		for {
			keys, values := b.take(ctx, liveBatch)
			if len(keys) == 0 {
				return
			}
			items, err := load(ctx, keys, values)
			if err != nil && ctx.Err() == nil {
				b.fail(err)
				return
			}
			if !send(ctx, b, events, items) {
				return
			}
		}
	}()
	return &domain.Stream[T]{Events: events, Err: b.failure}
}

func send[K comparable, V, T any](ctx context.Context, b *backlog[K, V], events chan<- T, items []T) bool {
	for _, item := range items {
		select {
		case events <- item:
		case <-ctx.Done():
			return false
		case <-b.failed:
			return false
		}
	}
	return true
}
