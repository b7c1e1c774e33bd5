package condition_test

import (
	"testing"
	"time"

	"simgraph/domain"
)

// A silence fires once, when it has lasted long enough, and resolves.
func TestASilenceFiresOnceAndResolves(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := 1; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.create(domain.RuleSIM, "s1", silentFor(6))
	f.create(domain.RuleGroup, "13", silentFor(3))
	f.pass(2 * time.Hour)
	f.logs()
	f.record(2, "gw")
	f.now = f.now.Add(3*time.Hour + time.Minute)
	f.record(2, "gw") // the source reports
	f.pass(time.Minute)
	f.logs("fired silent group 13 9 12:00")
	f.pass(2 * time.Hour)
	f.logs("fired silent group 13 9 12:00") // as far as is known, p1 has been silent for 5:01
	f.record(2, "gw")
	f.pass(time.Minute)
	f.logs("fired silent group 13 9 12:00", "fired silent p1 9 12:00")
	f.record(1, "gw")
	f.record(7, "gw")
	f.pass(time.Minute)
	want := []string{"fired silent group 13 9 12:00", "fired silent p1 9 12:00", "resolved silent group 13 9 12:00", "resolved silent p1 9 12:00"}
	f.logs(want...)
	for range 3 {
		f.pass(time.Minute)
	}
	f.logs(want...)
}

// through makes a record one of a session at a network element.
func through(nas string) func(*domain.UsageRecord) {
	return func(r *domain.UsageRecord) {
		r.RecordID, r.Report = "", &domain.SessionReport{NAS: nas}
	}
}

// A dead feed is reported whether or not an alert on silence exists: a network element after six
// hours, a source without one after 48.
func TestSourcesAreWatchedWithoutAlerts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.record(1, "files")
	f.record(2, "radius", through("nas"))
	f.pass(6*time.Hour - time.Second)
	f.logs()
	f.pass(6 * time.Minute)
	f.logs("fired source radius/nas 9 12:00")
	f.pass(42 * time.Hour)
	f.logs("fired source radius/nas 9 12:00", "fired source files 9 12:00")
	f.record(1, "files")
	f.record(2, "radius", through("nas"))
	f.pass(6 * time.Minute)
	f.logs("fired source radius/nas 9 12:00", "fired source files 9 12:00", "resolved source radius/nas 9 12:00", "resolved source files 9 12:00")
	if open := f.opened(); open != 0 {
		t.Errorf("%d entries are open", open)
	}
}

// at makes a record one that was read of its counter some time ago.
func at(moment time.Time) func(*domain.UsageRecord) {
	return func(r *domain.UsageRecord) { r.StartedAt, r.EndedAt = moment.Add(-time.Minute), moment }
}

// One of three network elements behind a proxy dies. Then the proxy keeps the reports of an
// hour, and replays them. Silent are those devices alone that were.
func TestAReplayAlarmsNobody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", silentFor(2))
	elements := []string{"a", "b", "c"}
	element := func(n int) func(*domain.UsageRecord) { return through(elements[n%3]) }
	for n := 1; n <= 8; n++ {
		f.record(n, "proxy", element(n))
	}
	began, replayed := f.now, []time.Time{}
	for minute := 10; minute <= 240; minute += 10 {
		f.now = began.Add(time.Duration(minute) * time.Minute)
		if held := minute > 60 && minute <= 120; held {
			replayed = append(replayed, f.now)
			if minute < 120 {
				f.round()
				continue
			}
		} else {
			replayed = []time.Time{f.now}
		}
		for _, moment := range replayed {
			for n := 1; n <= 8; n++ {
				if n%3 == 2 || n == 4 { // c is dead, and 4 is silent
					continue
				}
				f.record(n, "proxy", element(n), at(moment))
				f.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)
				f.round()
			}
		}
	}
	f.logs("fired source proxy/c 9 12:00", "fired silent p4 9 12:00")
}

// A packet of an old buffer neither ends the silence of its source, nor confirms that of the others.
func TestOneOldReportProvesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", silentFor(1))
	for n := 1; n <= 8; n++ {
		f.record(n, "proxy", through("a"))
	}
	f.pass(3 * time.Hour)
	f.logs("fired source proxy/a 9 12:00")
	f.record(1, "proxy", through("a"), at(monday.Add(90*time.Minute)))
	for range 20 {
		f.pass(time.Minute)
	}
	f.logs("fired source proxy/a 9 12:00")
}

// Reports without bytes let the watermark advance as others do.
func TestReportsWithoutBytesConfirmSilences(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleSIM, "s2", silentFor(1))
	idle := func(r *domain.UsageRecord) { r.SessionID, r.MobileOriginated, r.MobileTerminated = "idle", 0, 0 }
	f.record(1, "proxy", through("a"), idle)
	f.record(2, "proxy", through("a"))
	for range 7 {
		f.now = f.now.Add(10 * time.Minute)
		f.record(1, "proxy", through("a"), idle)
		f.round()
	}
	f.logs("fired silent p2 9 12:00")
}

// A source of which all network elements die is named, and none of these.
func TestASourceThatDiesAsAWholeIsNamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := range 3 {
		f.record(n+1, "proxy", through(string(rune('a'+n))))
		f.now = f.now.Add(time.Minute)
	}
	for range 80 {
		f.pass(5 * time.Minute)
	}
	f.logs("fired source proxy 9 12:02")
	for range 80 {
		f.now = f.now.Add(5 * time.Minute)
		f.record(2, "proxy", through("b"))
		f.round()
	}
	f.logs("fired source proxy 9 12:02", "resolved source proxy 9 12:02", "fired source proxy/a 9 12:00", "fired source proxy/c 9 12:02")
}

// A feed that ends is reported once, and not as the silence of its subscribers. Those of
// other sources are reported.
func TestADeadFeedIsNoSilenceOfItsSubscribers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := 1; n <= 4; n++ {
		f.record(n, "dead")
	}
	for n := 5; n <= 8; n++ {
		f.record(n, "alive")
	}
	f.create(domain.RuleCompany, "", silentFor(2))
	f.create(domain.RuleGroupMember, "12", silentFor(4))
	for range 6 * 6 {
		f.now = f.now.Add(10 * time.Minute)
		f.record(8, "alive")
		f.round()
	}
	f.logs("fired source dead 9 12:00", "fired silent p5 9 12:00", "fired silent p6 9 12:00", "fired silent p7 9 12:00")
	// It comes back: who is silent really is known then.
	f.record(1, "dead")
	f.pass(time.Minute)
	f.logs("fired source dead 9 12:00", "fired silent p5 9 12:00", "fired silent p6 9 12:00", "fired silent p7 9 12:00", "resolved source dead 9 12:00",
		"fired silent p2 9 12:00", "fired silent p3 9 12:00", "fired silent p4 9 12:00",
		"fired silent p2 9 12:00", "fired silent p3 9 12:00", "fired silent p4 9 12:00")
}
