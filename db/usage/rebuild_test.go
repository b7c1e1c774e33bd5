package usage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/internal/fatal"
)

// spoil makes totals of each month wrong and returns how many.
func (f *ledgerFleet) spoil() int {
	f.Helper()
	f.Pool.MustExec(`UPDATE company_hours SET mobile_originated = mobile_originated + 7 WHERE company_id = $1`, f.Scope.Company)
	return int(f.Int(`SELECT count(*) FROM company_hours WHERE company_id = $1`))
}

func (f *ledgerFleet) inParts(records int) *usage.Store {
	return usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return f.process }, RebuiltAtOnce: records})
}

func TestARebuildInPartsOfAnySizeSetsAllRight(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3, 20, 21, 50, 1000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			f := newLedgerFleet(t)
			for at := fleettest.UsageNow.AddDate(0, -2, 0); at.Before(fleettest.UsageNow.AddDate(0, -1, 0)); at = at.Add(7 * time.Hour) {
				f.Record(fleettest.UsageOf("s2", at.String(), at))
			}
			totals, wrong := f.totals(), f.spoil()
			f.Usage = f.inParts(size)
			var parts []time.Time
			_, n, err := f.Usage.RebuildWith(t.Context(), f.Scope, usage.RebuildOptions{Progress: func(_, reached, _ time.Time) { parts = append(parts, reached) }})
			if err != nil || n != wrong {
				t.Errorf("%d of %d differed: %v", n, wrong, err)
			}
			if !slices.IsSortedFunc(parts, time.Time.Compare) || size == 1000 && len(parts) != 1 || size <= 20 && len(parts) < 9 {
				t.Errorf("the parts are %v", parts)
			}
			f.MustAgree()
			f.mustHaveTotals(totals)
		})
	}
}

func TestARebuildGoesOnWhereOneWasInterrupted(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	totals, wrong := f.totals(), f.spoil()
	store := f.inParts(20)
	ctx, stop := context.WithCancel(t.Context())
	var done []time.Time
	_, before, err := store.RebuildWith(ctx, f.Scope, usage.RebuildOptions{Progress: func(_, reached, _ time.Time) {
		if done = append(done, reached); len(done) == 3 {
			stop()
		}
	}})
	if err == nil || before == 0 || before >= wrong {
		t.Fatalf("it set %d of %d right: %v", before, wrong, err)
	}
	if reached, err := store.Interrupted(t.Context(), f.Scope.Company); err != nil || !reached.Equal(done[2]) {
		t.Errorf("it reached %v, not %v: %v", reached, done[2], err)
	}
	var rest []time.Time
	_, n, err := store.RebuildWith(t.Context(), f.Scope, usage.RebuildOptions{Progress: func(_, reached, _ time.Time) { rest = append(rest, reached) }})
	if err != nil || n != wrong || !rest[0].After(done[2]) {
		t.Errorf("%d of %d differed, from %v on: %v", n, wrong, rest, err)
	}
	if reached, err := store.Interrupted(t.Context(), f.Scope.Company); err != nil || !reached.IsZero() {
		t.Errorf("it is interrupted still at %v: %v", reached, err)
	}
	f.MustAgree()
	f.mustHaveTotals(totals)
}

func TestARebuildAnewForgetsWhereOneWasInterrupted(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.Pool.MustExec(`INSERT INTO usage_rebuilds VALUES ($1, $2, 0)`, f.Scope.Company, fleettest.UsageNow)
	wrong := f.spoil()
	if _, n, err := f.Usage.RebuildWith(t.Context(), f.Scope, usage.RebuildOptions{Anew: true}); err != nil || n != wrong {
		t.Errorf("%d of %d differed: %v", n, wrong, err)
	}
}

func TestARestoredDatabaseForgetsTheRebuildOfAnother(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.Pool.MustExec(`INSERT INTO usage_rebuilds VALUES ($1, $2, 0)`, f.Scope.Company, fleettest.UsageNow)
	fatal.If(t, usage.ForgetRebuilds(t.Context(), f.Pool))
	if reached, err := f.Usage.Interrupted(t.Context(), f.Scope.Company); err != nil || !reached.IsZero() {
		t.Errorf("it is interrupted at %v: %v", reached, err)
	}
	f.Pool.MustExec(`DROP TABLE usage_rebuilds`)
	if err := usage.ForgetRebuilds(t.Context(), f.Pool); err != nil {
		t.Errorf("without the table: %v", err)
	}
}
