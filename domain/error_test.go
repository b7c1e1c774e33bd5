package domain_test

import (
	"testing"
	"time"

	"simgraph/domain"
)

// A caller that waits for the given time must not come too early.
func TestTheTimeToWaitIsRoundedUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{
		0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, 2500 * time.Millisecond: 3, 3 * time.Second: 3,
	} {
		if got := (&domain.Error{RetryAfter: wait}).RetrySeconds(); got != want {
			t.Errorf("%v: %d s, want %d", wait, got, want)
		}
	}
}
