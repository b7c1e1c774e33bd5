// Package retry repeats what the database could not do for the moment.
package retry

import (
	"context"
	"time"

	"simgraph/domain"
)

// WhileUnavailable runs do up to that many times while its error is Unavailable or
// RateLimited, with pauses that double. Doing the same twice must change nothing. When ctx
// ends in a pause, the error is the last one of do.
func WhileUnavailable[T any](ctx context.Context, attempts int, pause time.Duration, do func() (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		result, err := do()
		fault, ok := domain.AsError(err)
		if !ok || attempt == attempts || fault.Kind != domain.KindUnavailable && fault.Kind != domain.KindRateLimited {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, err
		case <-time.After(pause):
			pause *= 2
		}
	}
}
