package db_test

import (
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func (f *usageFleet) bytesOfGroup(group int) int64 {
	f.Helper()
	return f.int(`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM group_hours WHERE company_id = $1 AND group_id = $2`, group)
}

func TestUsageFollowsMembershipsThatBecomeKnownLater(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	for i, hours := range []int{100, 50, 1} {
		f.record(usageOf("s0", string(rune('a'+i)), usageNow.Add(-time.Duration(hours)*time.Hour)),
			usageOf("s1", string(rune('m'+i)), usageNow.Add(-time.Duration(hours)*time.Hour)))
	}
	importer := bundle.NewImporter(f.pool)
	// s0 was in no group, so all its usage belongs to its first; s1 left group 1.
	answers, err := importer.Memberships(t.Context(), f.scope, []domain.Membership{
		{PhysicalID: "s0", Since: usageNow.Add(-10 * time.Hour), GroupID: new(int64(2))},
		{PhysicalID: "s1", Since: usageNow.Add(-60 * time.Hour), GroupID: new(int64(2))},
	})
	if err != nil || answers[0].Err != nil || answers[1].Err != nil {
		t.Fatal(answers, err)
	}
	fatal.If(t, f.usage.ReconcileAll(t.Context()))
	if one, two := f.bytesOfGroup(1), f.bytesOfGroup(2); one != 110 || two != 550 {
		t.Errorf("the groups have %d and %d bytes", one, two)
	}
	if n := f.int(`SELECT count(*) FROM company_moves WHERE company_id = $1`); n != 0 {
		t.Error("the moves are still marked")
	}
	f.mustAgree()
}

func TestAnotherBillingDayMovesUsageToItsPeriods(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	boundary := time.Date(2026, 11, 14, 18, 30, 0, 0, time.UTC) // midnight of the 15th in India
	f.record(usageOf("s1", "before", boundary.Add(-time.Second)), usageOf("s1", "after", boundary))
	company, err := companies.New(f.pool).Find(t.Context(), f.scope)
	fatal.If(t, err)
	company.BillingDay, company.TimeZone = 15, "Asia/Kolkata"
	if answers, err := bundle.NewImporter(f.pool).Companies(t.Context(), nil, []*domain.Company{company}); err != nil || answers[0].Err != nil {
		t.Fatal(answers, err)
	}
	current, err := f.usage.CurrentOf(t.Context(), f.scope, company.Billing().PeriodAt(usageNow).Start, []int64{f.keys["s1"]})
	if err != nil || current[f.keys["s1"]] != 110 {
		t.Errorf("%v, %v", current, err)
	}
	if n := f.int(`SELECT count(*) FROM subscriber_periods WHERE company_id = $1`); n != 2 {
		t.Errorf("%d periods", n)
	}
	f.mustAgree()
}

// waitForWaiting waits until so many statements wait for locks.
func (f *usageFleet) waitForWaiting(statements int64) {
	f.Helper()
	const waiting = `
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND $1::bigint > 0`
	for f.int(waiting) < statements {
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
	early, late := usageNow.Add(-100*time.Hour), usageNow.Add(-time.Hour)
	f.record(usageOf("s1", "a", early), usageOf("s1", "b", late), usageOf("s4", "c", early))
	move := func(physicalID string) {
		answers, err := bundle.NewImporter(f.pool).Memberships(t.Context(), f.scope, []domain.Membership{
			{PhysicalID: physicalID, Since: early.Add(-time.Hour), GroupID: new(int64(2))},
		})
		if err != nil || answers[0].Err != nil {
			t.Error(answers, err)
		}
	}
	move("s1")

	// The late day cannot be derived anew before this ends.
	tx := f.pool.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`SELECT FROM group_hours WHERE company_id = $1 AND hour >= $2 FOR UPDATE`, f.scope.Company, late.Truncate(time.Hour))
	reconciled, moved := make(chan error, 1), make(chan struct{})
	go func() { reconciled <- f.usage.ReconcileAll(t.Context()) }()
	f.waitForWaiting(1)
	go func() { defer close(moved); move("s4") }()
	f.waitForWaiting(2)
	fatal.If(t, tx.Rollback())
	<-moved
	fatal.If(t, <-reconciled)
	fatal.If(t, f.usage.ReconcileAll(t.Context()))
	f.mustAgree()
}
