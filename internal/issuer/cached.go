package issuer

import (
	"context"
	"sync"
	"time"
)

const (
	// rereadAfter is how long an answer stands before it is read again because what
	// is wanted is not in it: strangers choose what is wanted.
	rereadAfter = time.Minute
	// retryAfter is how long a failure stands.
	retryAfter = 5 * time.Second
	// keptFor is how long an answer is used when no newer one can be read.
	keptFor = 24 * time.Hour
)

// cached is a document of an issuer. Callers share what is read.
type cached[T any] struct {
	now      func() time.Time
	freshFor time.Duration
	read     func(ctx context.Context) (T, error)
	// turn is held while the document is read.
	turn chan struct{}

	mu     sync.Mutex
	value  T
	readAt time.Time
	// err and failedAt are of the last attempt, where it failed.
	err      error
	failedAt time.Time
}

func newCached[T any](now func() time.Time, freshFor time.Duration, read func(context.Context) (T, error)) *cached[T] {
	return &cached[T]{now: now, freshFor: freshFor, read: read, turn: make(chan struct{}, 1)}
}

// get returns the document, after it was read again where it is old or has not what
// is wanted.
func (c *cached[T]) get(ctx context.Context, has func(T) bool) (T, error) {
	if value, done, err := c.held(has); done {
		return value, err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if value, done, err := c.held(has); done {
		return value, err
	}
	// Others wait for the answer, too.
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	value, err := c.read(reading)
	return c.keep(value, err)
}

// held returns what is known; done where nothing is to be read now.
func (c *cached[T]) held(has func(T) bool) (value T, done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	known := !c.readAt.IsZero()
	fresh := known && now.Before(c.readAt.Add(c.freshFor))
	switch {
	case fresh && (has(c.value) || now.Before(c.readAt.Add(rereadAfter))):
		return c.value, true, nil
	case c.err != nil && now.Before(c.failedAt.Add(retryAfter)):
		value, err := c.former(now)
		return value, true, err
	}
	return value, false, nil
}

func (c *cached[T]) keep(value T, err error) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if err != nil {
		c.err, c.failedAt = err, now
		return c.former(now)
	}
	c.value, c.readAt, c.err = value, now, nil
	return value, nil
}

// former returns the last answer where it is not too old, and else the error.
func (c *cached[T]) former(now time.Time) (value T, err error) {
	if !c.readAt.IsZero() && now.Before(c.readAt.Add(keptFor)) {
		return c.value, nil
	}
	return value, c.err
}
