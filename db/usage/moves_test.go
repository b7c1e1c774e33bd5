package usage_test

import (
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func (f *usageFleet) bytesOfGroup(group int) int64 {
	f.Helper()
	return f.Int(`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM group_hours WHERE company_id = $1 AND group_id = $2`, group)
}

func TestUsageFollowsMembershipsThatBecomeKnownLater(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	for i, hours := range []int{100, 50, 1} {
		f.Record(fleettest.UsageOf("s0", string(rune('a'+i)), fleettest.UsageNow.Add(-time.Duration(hours)*time.Hour)),
			fleettest.UsageOf("s1", string(rune('m'+i)), fleettest.UsageNow.Add(-time.Duration(hours)*time.Hour)))
	}
	importer := bundle.NewImporter(f.Pool)
	// s0 was in no group, so all its usage belongs to its first; s1 left group 1.
	answers, err := importer.Memberships(t.Context(), f.Scope, []domain.Membership{
		{PhysicalID: "s0", Since: fleettest.UsageNow.Add(-10 * time.Hour), GroupID: new(int64(2))},
		{PhysicalID: "s1", Since: fleettest.UsageNow.Add(-60 * time.Hour), GroupID: new(int64(2))},
	})
	if err != nil || answers[0].Err != nil || answers[1].Err != nil {
		t.Fatal(answers, err)
	}
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	if one, two := f.bytesOfGroup(1), f.bytesOfGroup(2); one != 110 || two != 550 {
		t.Errorf("the groups have %d and %d bytes", one, two)
	}
	if n := f.Int(`SELECT count(*) FROM company_moves WHERE company_id = $1`); n != 0 {
		t.Error("the moves are still marked")
	}
	f.MustAgree()
}

func TestAnotherBillingDayMovesUsageToItsPeriods(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	boundary := time.Date(2026, 11, 14, 18, 30, 0, 0, time.UTC) // midnight of the 15th in India
	f.Record(fleettest.UsageOf("s1", "before", boundary.Add(-time.Second)), fleettest.UsageOf("s1", "after", boundary))
	company, err := companies.New(f.Pool).Find(t.Context(), f.Scope)
	fatal.If(t, err)
	company.BillingDay, company.TimeZone = 15, "Asia/Kolkata"
	if answers, err := bundle.NewImporter(f.Pool).Companies(t.Context(), nil, []*domain.Company{company}); err != nil || answers[0].Err != nil {
		t.Fatal(answers, err)
	}
	current, err := f.Usage.CurrentOf(t.Context(), f.Scope, company.Billing().PeriodAt(fleettest.UsageNow).Start, []int64{f.Keys["s1"]})
	if err != nil || current[f.Keys["s1"]] != 110 {
		t.Errorf("%v, %v", current, err)
	}
	if n := f.Int(`SELECT count(*) FROM subscriber_periods WHERE company_id = $1`); n != 2 {
		t.Errorf("%d periods", n)
	}
	f.MustAgree()
}

// waitForWaiting waits until so many statements wait for locks.
func (f *usageFleet) waitForWaiting(statements int64) {
	f.Helper()
	const waiting = `
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND $1::bigint > 0`
	for f.Int(waiting) < statements {
		select {
		case <-f.Context().Done():
			f.Fatalf("there never were %d statements waiting", statements)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestAMoveThatComesWhileOthersAreReconciledIsReconciledToo(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 5)
	early, late := fleettest.UsageNow.Add(-100*time.Hour), fleettest.UsageNow.Add(-time.Hour)
	f.Record(fleettest.UsageOf("s1", "a", early), fleettest.UsageOf("s1", "b", late), fleettest.UsageOf("s4", "c", early))
	move := func(physicalID string) {
		answers, err := bundle.NewImporter(f.Pool).Memberships(t.Context(), f.Scope, []domain.Membership{
			{PhysicalID: physicalID, Since: early.Add(-time.Hour), GroupID: new(int64(2))},
		})
		if err != nil || answers[0].Err != nil {
			t.Error(answers, err)
		}
	}
	move("s1")

	// The late day cannot be derived anew before this ends.
	tx := f.Pool.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`SELECT FROM group_hours WHERE company_id = $1 AND hour >= $2 FOR UPDATE`, f.Scope.Company, late.Truncate(time.Hour))
	reconciled, moved := make(chan error, 1), make(chan struct{})
	go func() { reconciled <- f.Usage.ReconcileAll(t.Context()) }()
	f.waitForWaiting(1)
	go func() { defer close(moved); move("s4") }()
	f.waitForWaiting(2)
	fatal.If(t, tx.Rollback())
	<-moved
	fatal.If(t, <-reconciled)
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	f.MustAgree()
}
