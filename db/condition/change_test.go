package condition_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	store "simgraph/db/condition"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

func changeOf(traits ...condition.Trait) condition.Condition {
	return condition.Condition{Kind: condition.Change, Traits: traits}
}

// states reports a session of a subscriber, at now.
func (f *fixture) states(n int, session, imei, apn, address string) {
	f.Helper()
	f.now = f.now.Add(time.Second)
	f.record(n, "gw", reporting(imei, address, "23415"), func(r *domain.UsageRecord) { r.SessionID, r.Report.APN = session, apn })
}

// previews checks how often a preview of the condition fires.
func (f *fixture) previews(of condition.Condition, want int) *condition.Preview {
	f.Helper()
	f.now = f.now.Add(time.Minute)
	found, err := f.conditions.Preview(f.Context(), scope, condition.Spec{RuleType: domain.RuleCompany, Condition: of}, 20)
	fatal.If(f, err)
	if found.Total != want {
		f.Errorf("the preview finds %d, want %d: %+v", found.Total, want, found)
	}
	return found
}

// A device that was in another for some reports between two turns is noticed, also where
// its session had ended by then.
func TestADeviceSwappedForSecondsIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", changeOf(condition.IMEI))
	f.states(1, "a", "35000000000001", "", "")
	f.pass(time.Minute)
	f.states(1, "a", "35000000000002", "", "")
	f.states(1, "a", "35000000000001", "", "")
	f.pass(time.Minute)
	f.logs("fired change p1 9 12:01 35000000000002")
	f.states(1, "b", "35000000000003", "", "")
	f.states(1, "a", "35000000000001", "", "")
	f.states(1, "c", "35000000000001", "", "")
	f.pass(time.Minute)
	f.logs("fired change p1 9 12:01 35000000000002", "fired change p1 9 12:02 35000000000003")
	f.previews(changeOf(condition.IMEI), 2)
}

// A second bearer with an address of its own is no change of the first.
func TestASecondBearerIsNoChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", changeOf(condition.Address))
	f.states(1, "a", "", "internet", "10.0.0.1")
	f.states(1, "b", "", "mms", "10.1.0.1")
	f.states(1, "c", "", "Internet", "10.0.0.1")
	f.record(1, "gw", reporting("", "", ""), func(r *domain.UsageRecord) {
		r.SessionID, r.Report.APN, r.Report.IPv6Prefix = "d", "internet", netip.MustParsePrefix("2001:db8::/64")
	})
	f.pass(time.Minute)
	f.logs()
	f.states(1, "e", "", "mms", "10.1.0.2")
	f.states(1, "f", "", "internet", "10.1.0.1") // known of the other
	f.pass(time.Minute)
	want := []string{"fired change p1 9 12:01 10.1.0.2", "fired change p1 9 12:01 10.1.0.1"}
	f.logs(want...)
	f.previews(changeOf(condition.Address), 2)
}

// Network elements state whole seconds: several values of one second are all logged.
func TestChangesOfOneSecondAreAllLogged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", changeOf(condition.Address))
	f.states(1, "a", "", "internet", "10.0.0.1")
	f.states(1, "b", "", "mms", "10.1.0.1")
	at := f.now.Add(time.Second)
	for i, apn := range []string{"internet", "mms"} {
		f.now = at.Add(-time.Second)
		f.states(1, "again "+apn, "", apn, fmt.Sprintf("10.%d.0.2", i))
	}
	f.pass(time.Minute)
	f.logs("fired change p1 9 12:00 10.0.0.2", "fired change p1 9 12:00 10.1.0.2")
	f.previews(changeOf(condition.Address), 2)
	for i := range 8 { // the first comes again when others have taken its place
		f.now = at.Add(-time.Second)
		f.states(1, fmt.Sprint("quick ", i), "", "internet", fmt.Sprintf("10.0.1.%d", i%5))
	}
	f.pass(10 * time.Minute)
	f.previews(changeOf(condition.Address), len(f.log()))
}

// An alert knows what was stated before it was made, and fires for nothing of that. More
// than a turn learns follows at once.
func TestANewAlertKnowsWhatWasStatedBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conditions.Bound(3, 1000)
	for i := range 10 {
		f.states(1+i%2, "a", fmt.Sprintf("350000000000%02d", i), "", "")
	}
	f.now = f.now.Add(time.Second)
	f.create(domain.RuleCompany, "", changeOf(condition.IMEI))
	f.states(1, "a", "35000000000006", "", "") // among the last four
	f.states(1, "a", "35000000000000", "", "")
	for range 3 {
		f.pass(time.Second)
		f.logs()
	}
	f.pass(time.Second)
	f.logs("fired change p1 9 12:00 35000000000000")
	f.previews(changeOf(condition.IMEI), 9)
}

// A preview that would read too much looks at the first subscribers only.
func TestAPreviewOfManyChangesIsASample(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := 1; n <= 3; n++ {
		for i := range 3 {
			f.states(n, "a", fmt.Sprintf("3500000000%d%03d", n, i), "", "")
			f.states(n, "b", fmt.Sprintf("3500000000%d%03d", n, i), "", "") // is as before
		}
	}
	f.conditions.Bound(3, 10)
	if found := f.previews(changeOf(condition.IMEI), 6); found.IsSample || found.Subscribers != 8 {
		t.Errorf("of all: %+v", found)
	}
	f.conditions.Bound(3, 8)
	if found := f.previews(changeOf(condition.IMEI), 4); !found.IsSample || found.Subscribers != 2 {
		t.Errorf("of too many: %+v", found)
	}
}

// What was stated of a subscriber before it was there counts from when it is.
func TestValuesOfASubscriberThatAppearsAreLearned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", changeOf(condition.IMEI))
	f.pool.MustExec(`UPDATE subscribers SET physical_id = 'other' WHERE key = 1`)
	quarantined := func(imei string) {
		f.now = f.now.Add(time.Second)
		results, err := f.usage.Record(t.Context(), scope, []domain.UsageRecord{{
			PhysicalID: "p1", SessionID: "a", Source: "gw", StartedAt: f.now.Add(-time.Minute), EndedAt: f.now, MobileOriginated: int64(f.now.Second()), Protocol: "IP",
			Report: &domain.SessionReport{NAS: "gw", IMEI: imei},
		}})
		fatal.If(f, err)
		if results[0].Status != domain.UsageQuarantined {
			t.Fatalf("%+v", results[0])
		}
	}
	quarantined("35000000000001")
	quarantined("35000000000002")
	f.states(2, "b", "35000000000009", "", "")
	f.pass(time.Minute)
	f.logs()
	f.pool.MustExec(`UPDATE subscribers SET physical_id = 'p1' WHERE key = 1`)
	_, err := f.usage.Replay(t.Context(), scope)
	fatal.If(f, err)
	f.pass(time.Minute)
	f.logs("fired change p1 9 12:00 35000000000002")
	f.previews(changeOf(condition.IMEI), 1)
}

// An instance that learns is not waited for by another, which leaves its reports alone.
func TestASecondInstanceLeavesTheLearningToTheFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	of := f.create(domain.RuleCompany, "", changeOf(condition.IMEI))
	f.states(1, "a", "35000000000001", "", "")
	f.pass(time.Minute)
	f.states(1, "a", "35000000000002", "", "")
	edit := f.pool.MustBegin()
	edit.MustExec(`SELECT FROM condition_alerts WHERE company_id = 1 AND alert_id = $1 FOR UPDATE`, of.AlertID)
	first := make(chan error)
	turn := func(ctx context.Context) error {
		f.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)
		now := f.now.Add(time.Minute)
		return store.New(f.pool, func() time.Time { return now }).Round(ctx)
	}
	go func() { first <- turn(t.Context()) }()
	for waiting := 0; waiting == 0; time.Sleep(10 * time.Millisecond) {
		fatal.If(f, f.pool.Get(&waiting, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
	}
	patience, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if err := turn(patience); err != nil {
		t.Errorf("the second instance waits: %v", err)
	}
	f.logs()
	fatal.If(f, edit.Rollback())
	fatal.If(f, <-first)
	f.logs("fired change p1 9 12:01 35000000000002")
}

// Sessions of a bundle are stated like others.
func TestValuesOfImportedSessionsAreLearned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", changeOf(condition.IMEI))
	f.states(1, "a", "35000000000001", "", "")
	f.now = f.now.Add(time.Second)
	session := domain.Session{
		Identity: domain.IdentifySession("gw", "p1", "b"), Source: "gw", NAS: "gw", SessionID: "b", PhysicalID: "p1", IMEI: "35000000000002", Reports: 1,
		Counter: domain.Counter{BeganAt: f.now, AsOf: f.now}, ReportedAt: f.now,
	}
	kept, err := f.usage.KeepSessions(t.Context(), scope, []*domain.SessionImport{{Session: session, Subscriber: "p1"}})
	fatal.If(f, err)
	if kept[0].Outcome != domain.Created {
		t.Fatalf("%+v", kept[0])
	}
	f.pass(time.Minute)
	f.logs("fired change p1 9 12:00 35000000000002")
}
