package usage

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/domain"
)

// named returns n records whose identifiers begin with a name.
func named(name string, n int) []domain.UsageRecord {
	records := make([]domain.UsageRecord, n)
	for i := range records {
		records[i].RecordID = name + strconv.Itoa(i)
	}
	return records
}

// bookings fails those that hold the record bad0. Each takes a second.
type bookings struct {
	of  []int
	err error
}

func (b *bookings) book(_ context.Context, _ domain.CompanyID, records []domain.UsageRecord) ([]domain.Recorded, error) {
	b.of = append(b.of, len(records))
	time.Sleep(time.Second)
	results := make([]domain.Recorded, len(records))
	for i, r := range records {
		if r.RecordID == "bad0" {
			return nil, b.err
		}
		results[i].Status = domain.UsageStatus(r.RecordID)
	}
	return results, nil
}

// recordBad records a call by itself, and then a bad and a good one at once. It
// returns the errors of these.
func recordBad(t *testing.T, b *bookings) (bad, good error) {
	c := newCoalescer(b.book)
	var calling sync.WaitGroup
	record := func(records []domain.UsageRecord, err *error) {
		calling.Go(func() {
			var results []domain.Recorded
			if results, *err = c.record(t.Context(), 1, records); *err != nil {
				return
			}
			for i, r := range records {
				if len(results) != len(records) || results[i].Status != domain.UsageStatus(r.RecordID) {
					t.Errorf("%d results of %d records, of %s the one of %s", len(results), len(records), r.RecordID, results[i].Status)
				}
			}
		})
		synctest.Wait()
	}
	var first error
	record(named("first", 1), &first)
	record(named("bad", 2), &bad)
	record(named("good", 3), &good)
	calling.Wait()
	return bad, errors.Join(first, good)
}

func TestACallThatCannotBeBookedDoesNotFailThoseInItsTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bookings{err: errors.New("of this call")}
		bad, good := recordBad(t, b)
		if !errors.Is(bad, b.err) || good != nil {
			t.Errorf("got %v and %v", bad, good)
		}
		if len(b.of) != 4 || b.of[1] != 5 {
			t.Errorf("booked %v", b.of)
		}
	})
}

func TestCallsAreNotBookedOneByOneWhenTheDatabaseIsOutOfReach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bookings{err: domain.Unavailable(errors.New("out of reach"))}
		bad, good := recordBad(t, b)
		if !errors.Is(bad, b.err) || !errors.Is(good, b.err) || len(b.of) != 2 {
			t.Errorf("got %v and %v, booked %v", bad, good, b.of)
		}
	})
}

func TestUsageBeyondWhatMayWaitIsRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCoalescer(new(bookings).book)
		var calling sync.WaitGroup
		for range 1 + waitingRecords/coalescedCall {
			calling.Go(func() {
				if _, err := c.record(t.Context(), 1, named("r", coalescedCall)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		_, err := c.record(t.Context(), 1, named("r", 1))
		if fault, ok := domain.AsError(err); !ok || fault.Kind != domain.KindRateLimited {
			t.Errorf("got %v", err)
		}
		calling.Wait()
	})
}
