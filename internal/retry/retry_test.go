package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/retry"
)

func TestOnlyWhatIsOutOfReachIsTriedAgain(t *testing.T) {
	t.Parallel()
	away := &domain.Error{Kind: domain.KindUnavailable}
	for name, c := range map[string]struct {
		failures []error
		want     error
		calls    int
	}{
		"done at once":       {nil, nil, 1},
		"away for a while":   {[]error{away, &domain.Error{Kind: domain.KindRateLimited}}, nil, 3},
		"away for too long":  {[]error{away, away, away, away}, away, 4},
		"refused":            {[]error{domain.Invalid("x", "wrong")}, domain.Invalid("x", "wrong"), 1},
		"an error of no one": {[]error{context.DeadlineExceeded}, context.DeadlineExceeded, 1},
	} {
		calls := 0
		result, err := retry.WhileUnavailable(t.Context(), 4, time.Microsecond, func() (int, error) {
			calls++
			if calls <= len(c.failures) {
				return 0, c.failures[calls-1]
			}
			return calls, nil
		})
		if calls != c.calls || (err == nil) != (c.want == nil) || err != nil && err.Error() != c.want.Error() || err == nil && result != calls {
			t.Errorf("%s: %d after %d calls: %v", name, result, calls, err)
		}
	}
}

func TestAPauseEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	away := &domain.Error{Kind: domain.KindUnavailable}
	_, err := retry.WhileUnavailable(ctx, 2, time.Hour, func() (int, error) {
		cancel()
		return 0, away
	})
	if !errors.Is(err, away) {
		t.Error(err)
	}
}
