package condition_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
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

// A subscriber was seen last when it was, however many periods ago, and though a record of
// 31 days that began two periods ago may have ended later than those of the newest.
func TestASilenceBeginsWhenItsSubscriberWasSeenLast(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`UPDATE subscribers SET connection_date = '2019-01-01Z'`)
	f.pool.MustExec(`
INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
VALUES (1, '2022-05-01Z', 1, 1, 1, '2022-05-07 07:00Z'), (1, '2022-04-01Z', 1, 1, 1, '2022-04-30 07:00Z'),
  (1, '2026-11-01Z', 2, 1, 1, '2026-11-01 01:00Z'), (1, '2026-10-01Z', 2, 1, 1, '2026-10-02Z'), (1, '2026-09-01Z', 2, 1, 1, '2026-11-01 02:00Z'),
  (1, '2027-01-01Z', 3, 1, 1, '2027-01-05Z'), (1, '2026-11-01Z', 3, 1, 1, '2026-11-03 03:00Z')`)
	for n := 4; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.create(domain.RuleCompany, "", silentFor(24))
	f.pass(time.Minute)
	f.logs("fired silent p1 7 07:00", "fired silent p2 1 02:00", "fired silent p3 3 03:00")
}

// A silence ends by a record of nearly 31 days that began before the whole of February.
func TestASilenceEndsByARecordThatBeganTwoPeriodsAgo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.now = time.Date(2026, time.March, 1, 11, 0, 0, 0, time.UTC)
	for n := 1; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.create(domain.RuleSIM, "s1", silentFor(1))
	f.now = f.now.Add(2 * time.Hour)
	f.record(2, "gw") // the source reports
	f.pass(time.Minute)
	f.logs("fired silent p1 1 11:00")
	f.record(1, "gw", func(r *domain.UsageRecord) { r.StartedAt = f.now.AddDate(0, 0, -30) })
	f.pass(time.Minute)
	f.logs("fired silent p1 1 11:00", "resolved silent p1 1 11:00")
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

// What was kept while simgraph was away, or could not be reached by a network element, may
// come behind the first report of now.
func TestTheFirstReportAfterAnOutageProvesNothing(t *testing.T) {
	t.Parallel()
	for outage, note := range map[string]func(f *fixture){
		"of simgraph": func(f *fixture) { fatal.If(f, f.usage.Listen(f.Context(), 1, []string{"proxy"})) },
		"of the way to it": func(f *fixture) {
			f.pool.MustExec(`
INSERT INTO feed_listening AS l (company_id, source, nas, seen_at, since) VALUES (1, 'proxy', 'a', $1, $1)
ON CONFLICT (company_id, source, nas) DO UPDATE SET since = CASE WHEN l.seen_at < $2::timestamptz THEN excluded.seen_at ELSE l.since END, seen_at = excluded.seen_at`, f.now, f.now.Add(-20*time.Minute))
		},
	} {
		t.Run(outage, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.pool.MustExec(`UPDATE subscribers SET is_active = false WHERE key > 3`)
			f.create(domain.RuleCompany, "", silentFor(1))
			report := func(devices ...int) {
				for _, n := range devices {
					f.record(n, "proxy", through("a"))
				}
			}
			for range 6 {
				note(f)
				report(1, 2, 3)
				f.pass(50 * time.Second)
			}
			last := f.now
			f.now = last.Add(90 * time.Minute)
			report(1)
			if outage == "of simgraph" {
				note(f) // the other is noted by a job of its own, later
			}
			f.round()
			f.logs()
			for minute := 10; minute < 90; minute += 10 { // the backlog, of which 3 has nothing
				moment := at(last.Add(time.Duration(minute) * time.Minute))
				f.record(1, "proxy", through("a"), moment)
				f.record(2, "proxy", through("a"), moment)
				note(f)
				f.pass(time.Second)
			}
			for range 25 {
				report(1, 2)
				note(f)
				f.pass(30 * time.Second)
			}
			f.logs("fired silent p3 9 12:04")
		})
	}
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

// Usage that comes late, of a time that is longer ago than the alert allows, is no sign of
// life: it resolves nothing, whatever the alert is on and whichever way it comes. Usage of
// within that time resolves.
func TestLateUsageOfLongAgoResolvesNoSilence(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(*domain.UsageRecord){"a record": func(*domain.UsageRecord) {}, "a session": through("nas")} {
		for _, target := range []struct {
			of           domain.RuleType
			name, silent string
		}{
			{domain.RuleSIM, "s1", "p1"}, {domain.RuleGroupMember, "12", "p1"}, {domain.RuleCompany, "", "p1"}, {domain.RuleGroup, "12", "group 12"},
		} {
			t.Run(name+" on "+string(target.of), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				for n := 1; n <= 8; n++ {
					f.record(n, "gw", way)
				}
				f.create(target.of, target.name, silentFor(2))
				alive := func() {
					f.Helper()
					for n := 5; n <= 8; n++ {
						f.record(n, "gw", way)
					}
				}
				f.now = f.now.Add(time.Hour)
				alive()
				f.now = f.now.Add(time.Hour + 30*time.Minute)
				alive()
				f.pass(time.Minute)
				fired := f.of(target.silent)
				if fired != "fired silent "+target.silent+" 9 12:00" {
					t.Fatalf("the log has %s", fired)
				}
				f.record(1, "gw", way, at(monday.Add(20*time.Minute)))
				f.pass(time.Minute)
				if got := f.of(target.silent); got != fired {
					t.Errorf("after late usage of long ago, the log has %s", got)
				}
				f.record(1, "gw", way, at(f.now.Add(-time.Hour)))
				f.pass(time.Minute)
				if got := f.of(target.silent); got != fired+", resolved silent "+target.silent+" 9 12:00" {
					t.Errorf("after late usage of an hour ago, the log has %s", got)
				}
			})
		}
	}
}

// of returns the entries about someone, in words.
func (f *fixture) of(who string) string {
	f.Helper()
	var about []string
	for _, line := range f.log() {
		if strings.Contains(line, " "+who+" ") {
			about = append(about, line)
		}
	}
	return strings.Join(about, ", ")
}

// A gateway that fails for 12 minutes in each hour, as one of the demo's does, is named while
// it fails where 8 minutes are given, and resolves when it is back. Its devices are not
// silent, nor are the other gateways.
func TestAGatewayThatFailsForMinutesIsNamedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(domain.RuleCompany, "", silentFor(1))
	f.create(domain.RuleCompany, "", condition.Condition{Kind: condition.SourceSilent, Bound: 8})
	began, elements := f.now, []string{"a", "b", "c"}
	fails := func(minute int) bool { return minute%60 >= 30 && minute%60 < 42 }
	for minute := range 120 {
		f.now = began.Add(time.Duration(minute) * time.Minute)
		for n := 1; n <= 8; n++ {
			if n%3 != 2 || !fails(minute) {
				f.record(n, "proxy", through(elements[n%3]))
			}
		}
		f.pass(0)
		if minute%60 == 41 && f.opened() != 1 {
			t.Errorf("%d entries are open while the gateway fails", f.opened())
		}
	}
	f.logs("fired source proxy/c 9 12:29", "resolved source proxy/c 9 12:29", "fired source proxy/c 9 13:29", "resolved source proxy/c 9 13:29")
	var n int
	if fatal.If(f, f.pool.Get(&n, `SELECT count(*) FROM condition_log WHERE bound = 8`)); n != 4 {
		t.Errorf("%d entries have the minutes", n)
	}
}

// An alert on sources watches no subscriber, and when sources were silent is not kept.
func TestAnAlertOnSourcesHasNoSubjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	spec := condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.SourceSilent, Bound: 5}}
	alert := f.create(spec.RuleType, "", spec.Condition)
	why, err := f.conditions.Explain(t.Context(), scope, alert.AlertID, domain.AlertSubject{PhysicalID: new("p1")})
	if err != nil || why.Reason != condition.NotWatched {
		t.Errorf("it is explained by %+v, %v", why, err)
	}
	if _, err := f.conditions.Preview(t.Context(), scope, spec, 7); err == nil {
		t.Error("it has a preview")
	}
}
