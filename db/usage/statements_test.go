package usage_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// newWatchedFleet is a fleet with alerts that are evaluated, on one connection that
// counts its statements.
func newWatchedFleet(t *testing.T) (*usageFleet, *atomic.Int64) {
	statements := new(atomic.Int64)
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 1, Observe: func(context.Context, string) { statements.Add(1) }})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := newUsageFleetOn(t, pool, "acme", 3)
	now := func() time.Time { return fleettest.UsageNow }
	f.Usage = usage.New(pool, volume.NewEvaluator(now), usage.Options{Now: now})
	pool.MustExec(`INSERT INTO alerts (company_id, rule_type, date_created) VALUES ($1, 'company', '2026-01-01')`, f.Scope.Company)
	pool.MustExec(`INSERT INTO alert_thresholds
SELECT company_id, alert_id, 'lower', 'company', 0, 1000000, 1 FROM alerts WHERE company_id = $1`, f.Scope.Company)
	return f, statements
}

// A single record of a known subscriber takes four statements, or three where nobody
// watches the company, and the begin and commit of their transaction.
func TestARecordTakesFourStatements(t *testing.T) {
	t.Parallel()
	f, statements := newWatchedFleet(t)
	known := fleettest.UsageOf("s1", "first", fleettest.UsageNow.Add(-time.Hour))
	f.Record(known) // reads months and protocols
	known.RecordID, known.Sequence = "second", 1
	for name, record := range map[string]domain.UsageRecord{
		"in a group":          fleettest.UsageOf("s1", "grouped", fleettest.UsageNow.Add(-time.Hour)),
		"in no group":         fleettest.UsageOf("s0", "alone", fleettest.UsageNow.Add(-time.Hour)),
		"late":                fleettest.UsageOf("s1", "late", fleettest.UsageNow.Add(-50*24*time.Hour)),
		"in a known session":  known,
		"outside of sessions": {Source: "pgw", PhysicalID: "s2", StartedAt: fleettest.UsageNow, EndedAt: fleettest.UsageNow, MobileOriginated: 1, Protocol: "TCP"},
	} {
		f.Record(fleettest.UsageOf("s2", "month of "+name, record.StartedAt)) // creates the month
		before := statements.Load()
		if got := f.Statuses(record); got != "accepted" {
			t.Fatalf("%s: %s", name, got)
		}
		if got := statements.Load() - before; got != 4 {
			t.Errorf("%s: %d statements, want 4", name, got)
		}
	}
	f.Pool.MustExec(`DELETE FROM alerts WHERE company_id = $1`, f.Scope.Company)
	before := statements.Load()
	f.Record(fleettest.UsageOf("s1", "unwatched", fleettest.UsageNow.Add(-time.Hour)))
	if got := statements.Load() - before; got != 3 {
		t.Errorf("without alerts and followers: %d statements, want 3", got)
	}
	f.MustAgree()
}

// PostgreSQL keeps the plans of the statements of a single record.
func TestTheStatementsOfARecordKeepTheirPlans(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	f, _ := newWatchedFleet(t)
	f.Pool.MustExec("ANALYZE")
	for n := range 12 {
		f.Record(fleettest.UsageOf("s1", fmt.Sprint(n), fleettest.UsageNow.Add(-time.Hour)))
	}
	type plans struct {
		Statement     string
		Generic, Made int
	}
	kept, err := pg.SelectAll[plans](t.Context(), f.Pool, `SELECT statement, generic_plans AS generic, custom_plans AS made
FROM pg_prepared_statements WHERE generic_plans + custom_plans >= 10`)
	fatal.If(t, err)
	if len(kept) != 4 {
		t.Errorf("%d statements ran often, want 4", len(kept))
	}
	for _, p := range kept {
		if p.Generic == 0 {
			t.Errorf("planned %d times: %s", p.Made, p.Statement)
		}
	}
}

// What the lock on the company protects is read after it was waited for.
func TestARecordIsBookedByWhatChangedWhileItWaited(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	started := fleettest.UsageNow.Add(-time.Hour)
	f.Record(fleettest.UsageOf("s1", "first", started))
	change := f.Pool.MustBegin()
	defer func() { _ = change.Rollback() }()
	if _, err := companies.Lock(t.Context(), change, f.Scope.Company); err != nil {
		t.Fatal(err)
	}
	change.MustExec(`UPDATE companies SET billing_day = 17, time_zone = 'Asia/Tokyo' WHERE company_id = $1`, f.Scope.Company)
	change.MustExec(`UPDATE group_memberships SET group_id = 2 WHERE company_id = $1 AND subscriber_key = $2`, f.Scope.Company, f.Keys["s1"])
	change.MustExec(`DELETE FROM subscriber_periods WHERE company_id = $1`, f.Scope.Company)
	booked := make(chan error, 1)
	go func() {
		_, err := f.Usage.Record(t.Context(), f.Scope, []domain.UsageRecord{fleettest.UsageOf("s1", "second", started)})
		booked <- err
	}()
	f.awaitLock("usage_ids")
	fatal.If(t, change.Commit())
	fatal.If(t, <-booked)
	billing, err := domain.NewBilling(17, "Asia/Tokyo")
	fatal.If(t, err)
	start := billing.PeriodAt(started).Start
	if n := f.Int(`SELECT count(*) FROM subscriber_periods WHERE company_id = $1 AND period_start = $2 AND mobile_originated = 10`, start); n != 1 {
		t.Errorf("%d totals in the period from %v, want 1", n, start)
	}
	if n := f.Int(`SELECT coalesce(sum(mobile_originated), 0) FROM group_hours WHERE company_id = $1 AND group_id = 2`); n != 10 {
		t.Errorf("the new group has %d bytes, want 10", n)
	}
}

// awaitLock waits until a statement on the table waits for a lock of another backend.
func (f *usageFleet) awaitLock(table string) {
	f.Helper()
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		var waiting []string
		fatal.If(f, f.Pool.Select(&waiting, `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
		if len(waiting) > 0 && strings.Contains(waiting[0], table) {
			return
		}
	}
	f.Fatalf("nothing waits for a lock on %s", table)
}
