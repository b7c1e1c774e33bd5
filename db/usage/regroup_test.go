package usage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// importMemberships stores lines of a bundle.
func (f *usageFleet) importMemberships(lines ...domain.Membership) {
	f.Helper()
	answers, err := bundle.NewImporter(f.Pool).Memberships(f.Context(), f.Scope, lines)
	fatal.If(f, err)
	for _, a := range answers {
		if a.Err != nil {
			f.Fatal(a.Err)
		}
	}
}

func (f *usageFleet) reconcile() {
	f.Helper()
	fatal.If(f, f.Usage.Reconcile(f.Context(), []domain.CompanyID{f.Scope.Company}))
	if n := f.Int(`SELECT count(*) FROM company_moves WHERE company_id = $1`); n != 0 {
		f.Fatal("the company is still marked")
	}
}

// bill gives the company another billing calendar.
func (f *usageFleet) bill(day int, zone string) {
	f.Helper()
	company, err := companies.New(f.Pool).Find(f.Context(), f.Scope)
	fatal.If(f, err)
	company.BillingDay, company.TimeZone = day, zone
	if answers, err := bundle.NewImporter(f.Pool).Companies(f.Context(), nil, []*domain.Company{company}); err != nil || answers[0].Err != nil {
		f.Fatal(answers, err)
	}
}

// randomMembership draws a group and a moment, often near others and near the
// edges of hours, days and billing periods.
func randomMembership(r *rand.Rand, subscriber string) domain.Membership {
	edges := []time.Time{
		time.Date(2026, 11, 14, 18, 0, 0, 0, time.UTC), time.Date(2026, 10, 14, 18, 30, 0, 0, time.UTC),
		fleettest.UsageNow.AddDate(0, 0, -20).Truncate(24 * time.Hour), fleettest.UsageNow.AddDate(0, 0, -40),
	}
	since := edges[r.IntN(len(edges))].Add(time.Duration(r.IntN(5)-2) * 17 * time.Minute)
	if r.IntN(2) == 0 {
		since = fleettest.UsageNow.Add(-time.Duration(r.IntN(80*24*60)) * time.Minute)
	}
	m := domain.Membership{PhysicalID: subscriber, Since: since}
	if group := r.Int64N(3); group > 0 {
		m.GroupID = &group
	}
	return m
}

func TestUsageThatMovesBetweenGroupsStaysEqualToTheLedger(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 13))
			f := newUsageFleet(t, 6)
			f.bill(15, []string{"UTC", "Asia/Kolkata", "Australia/Lord_Howe"}[seed%3])
			records := usageGen(f)
			for round := range 4 {
				var batch []domain.UsageRecord
				for n := range 120 {
					record := records.Example(int(seed)*10_000 + round*1000 + n)
					if r.IntN(3) == 0 {
						record.StartedAt = randomMembership(r, "").Since
						record.EndedAt = record.StartedAt.Add(time.Minute)
					}
					batch = append(batch, record)
				}
				f.Record(batch...)
				for range 1 + r.IntN(4) {
					f.importMemberships(randomMembership(r, fmt.Sprintf("s%d", r.IntN(6))))
				}
				f.Record(batch[:10]...)
				f.reconcile()
				f.MustAgree()
			}
		})
	}
}

func TestOnlySubscribersWithUsageSinceTheirMoveAreMarked(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 8)
	since := fleettest.UsageNow.AddDate(0, 0, -30)
	f.Record(fleettest.UsageOf("s1", "before", since.AddDate(0, 0, -2)), fleettest.UsageOf("s4", "after", since.AddDate(0, 0, 2)), fleettest.UsageOf("s0", "early", since.AddDate(0, 0, -3)))
	var lines []domain.Membership
	for _, id := range []string{"s0", "s1", "s2", "s4", "s5"} {
		lines = append(lines, domain.Membership{PhysicalID: id, Since: since, GroupID: new(int64(2))})
	}
	f.importMemberships(lines...)
	// s0 was in no group: all its usage moves to its first.
	var marked []string
	err := f.Pool.Select(&marked, `
SELECT s.physical_id FROM subscriber_moves m JOIN subscribers s ON s.company_id = $1 AND s.key = m.subscriber_key
WHERE m.company_id = $1 ORDER BY s.physical_id`, f.Scope.Company)
	if err != nil || strings.Join(marked, " ") != "s0 s4" {
		t.Errorf("marked are %v, %v", marked, err)
	}
	f.reconcile()
	f.MustAgree()
}

func TestUsageLeavesAGroupThatNeverWas(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	joined := fleettest.UsageNow.AddDate(0, 0, -10)
	f.importMemberships(domain.Membership{PhysicalID: "s0", Since: joined, GroupID: new(int64(1))})
	f.Record(fleettest.UsageOf("s0", "a", joined.AddDate(0, 0, -5)), fleettest.UsageOf("s0", "b", joined.AddDate(0, 0, 5)))
	f.importMemberships(domain.Membership{PhysicalID: "s0", Since: joined})
	f.reconcile()
	if bytes := f.bytesOfGroup(1); bytes != 0 {
		t.Errorf("the group has %d bytes", bytes)
	}
	f.MustAgree()
}

func TestACompanyIsReconciledWithoutTheOthers(t *testing.T) {
	t.Parallel()
	own := newUsageFleet(t, 2)
	other := newUsageFleetOn(t, own.Pool, "other", 2)
	for _, f := range []*usageFleet{own, other} {
		f.Record(fleettest.UsageOf("s1", "a", fleettest.UsageNow.Add(-time.Hour)))
		f.importMemberships(domain.Membership{PhysicalID: "s1", Since: fleettest.UsageNow.AddDate(0, 0, -2), GroupID: new(int64(2))})
	}
	own.reconcile()
	if one, two := own.bytesOfGroup(2), other.bytesOfGroup(2); one != 110 || two != 0 {
		t.Errorf("moved were %d bytes of the own company and %d of the other", one, two)
	}
	fatal.If(t, own.Usage.ReconcileAll(t.Context()))
	if bytes := other.bytesOfGroup(2); bytes != 110 {
		t.Errorf("moved were %d bytes of the other company", bytes)
	}
	other.MustAgree()
}

// countParts has the database count the parts of regrouping.
const countParts = `
CREATE TABLE parts (company_id bigint NOT NULL);

CREATE FUNCTION count_part() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO parts VALUES (NEW.company_id); RETURN NEW; END $$;

CREATE TRIGGER count_part AFTER UPDATE ON company_moves FOR EACH ROW WHEN (OLD.groups IS DISTINCT FROM NEW.groups) EXECUTE FUNCTION count_part()`

func TestAnImportAndTheWorkerMoveUsageOnce(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 5)
	fleettest.ExecEach(f.Pool, countParts)
	f.Record(fleettest.UsageOf("s1", "a", fleettest.UsageNow.Add(-time.Hour)), fleettest.UsageOf("s4", "b", fleettest.UsageNow.Add(-50*time.Hour)))
	f.importMemberships(
		domain.Membership{PhysicalID: "s1", Since: fleettest.UsageNow.AddDate(0, 0, -20), GroupID: new(int64(2))},
		domain.Membership{PhysicalID: "s4", Since: fleettest.UsageNow.AddDate(0, 0, -20), GroupID: new(int64(2))})
	tx := f.Pool.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`SELECT FROM companies WHERE company_id = $1 FOR UPDATE`, f.Scope.Company)
	var both errgroup.Group
	both.Go(func() error { return f.Usage.ReconcileAll(t.Context()) })
	both.Go(func() error { return f.Usage.Reconcile(t.Context(), []domain.CompanyID{f.Scope.Company}) })
	f.waitForWaiting(2)
	fatal.If(t, tx.Rollback())
	fatal.If(t, both.Wait())
	if n := f.Int(`SELECT count(*) FROM parts WHERE company_id = $1`); n != 1 {
		t.Errorf("usage was moved %d times", n)
	}
	f.MustAgree()
}

func TestAMoveThatWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 0)
	// A part holds 20,000 days of subscribers, so these are two.
	early := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	var records []domain.UsageRecord
	var lines []domain.Membership
	for n := range 80 {
		id := fmt.Sprintf("s%d", n)
		f.Add(id, 1)
		records = append(records, fleettest.UsageOf(id, "a"+id, early.Add(time.Duration(n)*time.Minute)), fleettest.UsageOf(id, "b"+id, fleettest.UsageNow.Add(-time.Hour)))
		lines = append(lines, domain.Membership{PhysicalID: id, Since: early.Add(-time.Hour), GroupID: new(int64(2))})
	}
	last := early.Add(100 * time.Hour)
	records = append(records, fleettest.UsageOf("s79", "last", last))
	f.Record(records...)
	f.importMemberships(lines...)

	// What the second part writes cannot be written before this ends.
	tx := f.Pool.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`SELECT FROM group_hours WHERE company_id = $1 AND hour = $2 FOR UPDATE`, f.Scope.Company, last.Truncate(time.Hour))
	// Ending its session would not do: a transaction whose session ended is run again.
	ctx, interrupt := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- f.Usage.ReconcileAll(ctx) }()
	f.waitForWaiting(1)
	interrupt()
	if err := <-failed; err == nil {
		t.Fatal("the interrupted part did not fail")
	}
	fatal.If(t, tx.Rollback())
	if n := f.Int(`SELECT count(*) FROM subscriber_moves WHERE company_id = $1`); n == 0 || n == 80 {
		t.Errorf("%d subscribers are marked after the first of two parts", n)
	}
	f.reconcile()
	if one, two := f.bytesOfGroup(1), f.bytesOfGroup(2); one != 0 || two != 161*110 {
		t.Errorf("the groups have %d and %d bytes", one, two)
	}
	f.MustAgree()
}

func TestAMarkOfTheVersionBeforeIsReconciled(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	f.Record(fleettest.UsageOf("s1", "a", fleettest.UsageNow.Add(-50*time.Hour)))
	since := fleettest.UsageNow.AddDate(0, 0, -5)
	f.Join("s1", since, 2)
	f.Pool.MustExec(`INSERT INTO usage_moves VALUES ($1, $2)`, f.Scope.Company, since)
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	if n := f.Int(`SELECT count(*) FROM usage_moves WHERE company_id = $1`); n != 0 {
		t.Error("the company is still marked")
	}
	if bytes := f.bytesOfGroup(2); bytes != 110 {
		t.Errorf("the group has %d bytes", bytes)
	}
	f.MustAgree()
}

func TestAnAlertWhoseUsageMovedAwayHasOneStatus(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	at := fleettest.UsageNow
	clock := func() time.Time { return at }
	f.Usage = usage.New(f.Pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	alerts := volume.NewAlerts(f.Pool, clock)
	alert, err := alerts.Create(t.Context(), f.Scope, domain.AlertSpec{RuleType: domain.RuleGroup, Target: "1", LowerThreshold: 100, UpperThreshold: 1000})
	fatal.If(t, err)
	mustBe := func(status domain.AlertStatus, usage int64, reason domain.AlertReason, firings int64) {
		t.Helper()
		ids := []int64{alert.AlertID}
		exceeded, err := alerts.Fired(t.Context(), f.Scope, ids)
		fatal.If(t, err)
		subjects, err := alerts.SubjectsOf(t.Context(), f.Scope, ids, domain.Page{Limit: 1})
		fatal.If(t, err)
		explained, err := alerts.Explain(t.Context(), f.Scope, alert.AlertID, domain.AlertSubject{GroupID: new(int64(1))})
		fatal.If(t, err)
		state := subjects[alert.AlertID][0]
		if of := domain.StatusOf(exceeded[alert.AlertID] > 0); of != status || state.Status() != status || explained.State.Status() != status ||
			explained.Lower.State.Status != status || explained.Lower.Reason != reason || state.Usage != usage {
			t.Errorf("want %s at %d bytes; the alert is %s, its subject %s at %d bytes, explained as %s, %s", status, usage,
				of, state.Status(), state.Usage, explained.State.Status(), explained.Lower.Reason)
		}
		if n := f.Int(`SELECT count(*) FROM alert_log WHERE company_id = $1`); n != firings {
			t.Errorf("it fired %d times", n)
		}
	}
	mustBe(domain.Armed, 0, domain.ReasonBelow, 0)
	f.Record(fleettest.UsageOf("s1", "a", fleettest.UsageNow.Add(-time.Hour)))
	mustBe(domain.Fired, 110, domain.ReasonFired, 1)
	f.importMemberships(domain.Membership{PhysicalID: "s1", Since: fleettest.UsageNow.Add(-2 * time.Hour), GroupID: new(int64(2))})
	f.reconcile()
	mustBe(domain.Fired, 0, domain.ReasonFired, 1)
	// It has fired, so it does not again before the next period.
	f.importMemberships(domain.Membership{PhysicalID: "s1", Since: fleettest.UsageNow.Add(-2 * time.Hour), GroupID: new(int64(1))})
	f.reconcile()
	mustBe(domain.Fired, 110, domain.ReasonFired, 1)
	at = at.AddDate(0, 1, 0)
	mustBe(domain.Armed, 0, domain.ReasonBelow, 1)
}
