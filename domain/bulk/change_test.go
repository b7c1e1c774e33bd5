package bulk_test

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/bulk"
)

// A termination may be ahead by as much as clocks may differ.
func TestATerminationInTheFutureIsRejected(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	for at, accepted := range map[time.Time]bool{
		now.AddDate(-1, 0, 0):                                      true,
		now.Add(domain.ClockTolerance):                             true,
		now.Add(domain.ClockTolerance + time.Microsecond):          false,
		now.Add(2 * domain.ClockTolerance):                         false,
		time.Date(now.Year()+20, 1, 1, 0, 0, 0, 0, now.Location()): false,
	} {
		err := bulk.Change{TerminateDate: &at}.Check(now)
		if (err == nil) != accepted {
			t.Errorf("%v: %v", at, err)
		}
	}
}
