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

// A run for more than bulk.Expected subscribers must say how many there are.
func TestARunForManyNamesTheirNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, expect int
		validateOnly  bool
		accepted      bool
	}{
		{bulk.Expected, 0, false, true}, {bulk.Expected + 1, 0, false, false}, {bulk.Expected + 1, 0, true, true},
		{bulk.Expected + 1, bulk.Expected + 1, false, true}, {bulk.Expected + 1, bulk.Expected, true, false}, {0, 0, true, false},
	} {
		start := bulk.Start{ValidateOnly: c.validateOnly}
		if c.expect > 0 {
			start.Expect = &c.expect
		}
		if err := start.CheckExpected(c.total); (err == nil) != c.accepted {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
