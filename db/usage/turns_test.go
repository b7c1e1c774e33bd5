package usage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
)

// turnBatches are batches in which ids come again, with the same and other bytes, and
// sessions and subscribers too; some are readings of counters.
func turnBatches(random *rand.Rand) [][]domain.UsageRecord {
	batches := make([][]domain.UsageRecord, 8)
	for n := range batches {
		for range 150 {
			r := fleettest.UsageOf(fmt.Sprintf("s%d", random.IntN(5)), fmt.Sprint(random.IntN(900)), fleettest.UsageNow.Add(-time.Duration(random.IntN(72))*time.Hour))
			r.SessionID, r.Sequence = fmt.Sprint("s-", random.IntN(30)), random.IntN(4)
			if random.IntN(10) == 0 {
				r = fleettest.ReadingOf(r.PhysicalID, r.SessionID, fleettest.UsageNow.Add(-time.Hour), 1+random.IntN(50), random.Int64N(1000), random.Int64N(1000))
			}
			batches[n] = append(batches[n], r)
		}
	}
	return batches
}

// inTurn records batches as a stream does: each begins when the one before has its
// place. It returns the statuses, and how many batches began before the one before
// had ended.
func (f *usageFleet) inTurn(batches [][]domain.UsageRecord) (statuses [][]domain.Recorded, overlaps int) {
	f.Helper()
	statuses = make([][]domain.Recorded, len(batches))
	var underWay sync.WaitGroup
	for i, batch := range batches {
		turn := make(chan struct{})
		placed := sync.OnceFunc(func() { close(turn) })
		var ended atomic.Bool
		underWay.Go(func() {
			defer placed()
			results, err := f.Usage.RecordInTurn(f.Context(), f.Scope, batch, placed)
			if err != nil {
				f.Error(err)
			}
			statuses[i] = results
			ended.Store(true)
		})
		<-turn
		if !ended.Load() {
			overlaps++
		}
	}
	underWay.Wait()
	return statuses, overlaps
}

// Batches in turn have the results that they have one after the other.
func TestBatchesInTurnAreJudgedInTheirOrder(t *testing.T) {
	t.Parallel()
	pipelined := newUsageFleet(t, 5)
	alone := newUsageFleetOn(t, pipelined.Pool, "rival", 5)
	overlaps := 0
	for seed := range uint64(3) {
		batches := turnBatches(rand.New(rand.NewPCG(seed, 1)))
		for i := range batches {
			for n := range batches[i] {
				batches[i][n].Source = fmt.Sprint("pgw-", seed)
			}
		}
		results, overlapped := pipelined.inTurn(batches)
		overlaps += overlapped
		for i, batch := range batches {
			want := alone.Record(batch...)
			same := func(a, b domain.Recorded) bool { return a.Status == b.Status }
			if !slices.EqualFunc(results[i], want, same) {
				t.Fatalf("seed %d: batch %d has other results in turn", seed, i)
			}
		}
	}
	if overlaps == 0 {
		t.Error("no two batches were under way at the same time")
	}
	pipelined.MustAgree()
	alone.MustAgree()
	const totals = `SELECT coalesce(sum(mobile_originated + mobile_terminated), 0) FROM subscriber_periods WHERE company_id = $1`
	if got, want := pipelined.Int(totals), alone.Int(totals); got != want || got == 0 {
		t.Errorf("%d bytes in turn, %d one after the other", got, want)
	}
}

// While two batches are ahead, others are recorded without their next beginning: streams
// of many companies do not take all connections.
func TestTwoBatchesAreAheadAtATime(t *testing.T) {
	t.Parallel()
	fleet := newUsageFleet(t, 5)
	record := func(f *usageFleet, placed func()) error {
		_, err := fleet.Usage.RecordInTurn(t.Context(), f.Scope, turnBatches(rand.New(rand.NewPCG(1, 2)))[0], placed)
		return err
	}
	var fleets []*usageFleet
	for n := range 4 {
		fleets = append(fleets, newUsageFleetOn(t, fleet.Pool, fmt.Sprint("company-", n), 5))
	}
	release, ahead := make(chan struct{}), make(chan struct{}, 2)
	ended := make(chan error, 2)
	for _, f := range fleets[:2] {
		go func() {
			ended <- record(f, func() {
				ahead <- struct{}{}
				<-release
			})
		}()
	}
	<-ahead
	<-ahead
	if err := record(fleets[2], func() { t.Error("a third batch is ahead") }); err != nil {
		t.Error(err)
	}
	close(release)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	again := false
	if err := record(fleets[3], func() { again = true }); err != nil || !again {
		t.Errorf("after the two had ended a batch is ahead: %t, %v", again, err)
	}
}
