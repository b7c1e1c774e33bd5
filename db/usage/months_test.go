package usage_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// october is a month that is over at usageNow.
var october = domain.Range{Start: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Offset: time.UTC}

// addressed is a record of October under the address 10.0.0.n.
func addressed(id string, day, n int, bytes int64) domain.UsageRecord {
	started := october.Start.AddDate(0, 0, day-1)
	return domain.UsageRecord{
		RecordID: id, Source: "pgw", PhysicalID: "s0", StartedAt: started, EndedAt: started.Add(time.Minute),
		MobileOriginated: bytes, Protocol: "TCP", IPAddress: netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}),
	}
}

func (f *usageFleet) sumMonths() {
	f.Helper()
	fatal.If(f, f.Usage.SumMonths(f.Context()))
}

// addresses lists the usage of October by address, from whatever stands ready.
func (f *usageFleet) addresses() (list string) {
	f.Helper()
	err := usage.NewAnalytics(f.Usage).Addresses(f.Context(), f.Scope, []domain.Subject{{}}, october, func(_ domain.Subject, a domain.AddressUsage) error {
		list += fmt.Sprintf("%s %d %s, ", a.IPAddress, a.Total(), a.LastSeen.UTC().Format("02 15:04"))
		return nil
	})
	fatal.If(f, err)
	return list
}

const (
	countReady  = `SELECT count(*) FROM usage_months WHERE company_id = $1 AND is_ready`
	breakMonths = `UPDATE ip_months SET mobile_originated = mobile_originated + 1 WHERE company_id = $1`
)

func TestAMonthIsReadFromItsSumsUntilUsageIsBookedIntoIt(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Record(addressed("a", 2, 1, 100), addressed("b", 30, 2, 50), addressed("c", 30, 1, 5))
	f.sumMonths()
	if got, want := f.addresses(), "10.0.0.1 105 30 00:01, 10.0.0.2 50 30 00:01, "; got != want || f.Int(countReady) != 1 {
		t.Fatalf("%s, not %s", got, want)
	}
	f.Pool.MustExec(breakMonths, f.Scope.Company)
	if got, want := f.addresses(), "10.0.0.1 106 30 00:01, 10.0.0.2 51 30 00:01, "; got != want {
		t.Errorf("the month is not read from its sums: %s", got)
	}
	// Without bytes, it moves the time at which the address was seen last.
	f.Record(addressed("d", 31, 2, 0))
	if got, want := f.addresses(), "10.0.0.1 105 30 00:01, 10.0.0.2 50 31 00:01, "; got != want || f.Int(countReady) != 0 {
		t.Errorf("after a late record: %s, not %s", got, want)
	}
	f.sumMonths()
	if got, want := f.addresses(), "10.0.0.1 105 30 00:01, 10.0.0.2 50 31 00:01, "; got != want || f.Int(countReady) != 1 {
		t.Errorf("after it was added up again: %s, not %s", got, want)
	}
	// Usage of another month leaves it alone.
	next := addressed("e", 1, 1, 9)
	next.StartedAt, next.EndedAt = fleettest.UsageNow.Add(-time.Hour), fleettest.UsageNow
	f.Record(next)
	if n := f.Int(countReady); n != 1 {
		t.Errorf("%d months are ready after usage of another", n)
	}
}

func TestARebuildCorrectsTheSumsOfMonths(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Record(addressed("a", 2, 1, 100))
	f.sumMonths()
	f.MustAgree()
	f.Pool.MustExec(breakMonths, f.Scope.Company)
	differences, n, err := f.Usage.Rebuild(t.Context(), f.Scope)
	if err != nil || n != 1 || differences[0].Total != "ip_months" || differences[0].Key != "2026-10-01 10.0.0.1" {
		t.Fatal(differences, n, err)
	}
	if got, want := f.addresses(), "10.0.0.1 100 02 00:01, "; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	f.MustAgree()
}

// A month waits until late usage has mostly come.
func TestAMonthIsAddedUpThreeDaysAfterItsEnd(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Record(addressed("a", 2, 1, 100))
	for hours, want := range map[int]int64{-1: 0, 71: 0, 73: 1} {
		f.Pool.MustExec("DELETE FROM usage_months")
		f.Usage = usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return october.End.Add(time.Duration(hours) * time.Hour) }})
		f.sumMonths()
		if n := f.Int(countReady); n != want {
			t.Errorf("%d hours after its end: %d", hours, n)
		}
	}
}

// What is booked while a month is being added up must not be missing in the sums: that
// run ends without them.
func TestABookingEndsARunThatAddsUpItsMonth(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Record(addressed("a", 2, 1, 100))
	// The run waits for this row, after it has read the days.
	f.Pool.MustExec(`INSERT INTO ip_months VALUES ($1, '2026-10-01', '10.0.0.1', 1, 1, now())`, f.Scope.Company)
	held := f.Pool.MustBegin()
	held.MustExec(`SELECT FROM ip_months WHERE company_id = $1 FOR UPDATE`, f.Scope.Company)
	ended := make(chan error, 1)
	go func() { ended <- f.Usage.SumMonths(t.Context()) }()
	f.awaitLock("ip_months")
	f.Record(addressed("b", 2, 1, 11))
	fatal.If(t, held.Commit())
	fatal.If(t, <-ended)
	if got, want := f.addresses(), "10.0.0.1 111 02 00:01, "; got != want || f.Int(countReady) != 0 {
		t.Errorf("%s, not %s", got, want)
	}
	f.sumMonths()
	if got, want := f.addresses(), "10.0.0.1 111 02 00:01, "; got != want || f.Int(countReady) != 1 {
		t.Errorf("%s, not %s", got, want)
	}
	f.MustAgree()
}
