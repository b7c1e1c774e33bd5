package condition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
)

// An hour with too many sessions fires once, also where some are reported later.
func TestAStormFiresOnceAnHour(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	storm := func(n int64) condition.Condition { return condition.Condition{Kind: condition.Storm, Bound: n} }
	f.now = monday.Add(-2 * time.Hour)
	for range 9 {
		f.now = f.now.Add(time.Minute)
		f.record(3, "gw", opening)
	}
	f.now = monday
	f.create(domain.RuleSIM, "s1", storm(3))
	f.create(domain.RuleCompany, "", storm(5))
	f.create(domain.RuleGroup, "13", storm(6))
	f.create(domain.RuleGroupMember, "12", storm(4))
	for range 4 {
		f.now = f.now.Add(5 * time.Minute)
		f.record(1, "gw", opening)
		f.record(5, "gw", opening)
		f.record(6, "gw", opening)
	}
	f.pass(time.Minute)
	f.logs("fired storm p1 9 12:00", "fired storm group 13 9 12:00")
	for range 2 {
		f.now = f.now.Add(5 * time.Minute)
		f.record(1, "gw", opening)
	}
	f.pass(time.Minute)
	want := []string{"fired storm p1 9 12:00", "fired storm group 13 9 12:00", "fired storm p1 9 12:00", "fired storm p1 9 12:00"}
	f.logs(want...)
	f.pass(time.Hour)
	f.logs(want...)
}

// opening makes a record the first of its session.
func opening(r *domain.UsageRecord) { r.Sequence = 0 }

// A forecast needs three weeks of history, and fires once in a period.
func TestAForecastFiresOnceInAPeriod(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`UPDATE subscribers SET connection_date = $1 WHERE key = 2`, monday.AddDate(0, 0, -20))
	for back := 28; back >= 0; back-- {
		f.now = monday.AddDate(0, 0, -back)
		for n := 1; n <= 3; n++ {
			if n < 3 || back < 2 {
				f.record(n, "gw", func(r *domain.UsageRecord) { r.MobileOriginated, r.MobileTerminated = 60, 40 })
			}
		}
	}
	forecast := func(bytes int64) condition.Condition {
		return condition.Condition{Kind: condition.Forecast, Bound: bytes}
	}
	// 9 days in November were used, 21 are to come.
	f.create(domain.RuleSIM, "s1", forecast(2999))
	f.create(domain.RuleSIM, "s1", forecast(3000))
	f.create(domain.RuleGroup, "12", forecast(6000))
	f.create(domain.RuleCompany, "", forecast(2000))
	want := []string{"fired forecast p1 1 00:00", "fired forecast group 12 1 00:00", "fired forecast p1 1 00:00"}
	f.pass(time.Minute)
	f.logs(want...)
	f.pass(time.Minute)
	f.logs(want...)
	f.pass(24 * time.Hour) // p2 has three weeks then
	f.logs(append(want, "fired forecast p2 1 00:00")...)
}

// A turn forecasts the usage of some subscribers, the next one goes on with others, and
// after the last it begins again, so that everybody has its turn.
func TestForecastsGoThroughAFleetInTurns(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int{1, 3, 4, 8} {
		t.Run(fmt.Sprint(atOnce, " at once"), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.conditions.BoundForecasts(atOnce)
			use := func(n int, bytes int64) {
				f.Helper()
				f.record(n, "gw", func(r *domain.UsageRecord) { r.MobileOriginated, r.MobileTerminated = bytes, 0 })
			}
			for back := 28; back >= 0; back-- {
				f.now = monday.AddDate(0, 0, -back)
				for n := 1; n <= 7; n++ {
					use(n, 100)
				}
			}
			f.create(domain.RuleCompany, "", condition.Condition{Kind: condition.Forecast, Bound: 2000})
			var want []string
			for first := 1; first <= 7; first += atOnce {
				for n := first; n < min(first+atOnce, 8); n++ {
					want = append(want, fmt.Sprintf("fired forecast p%d 1 00:00", n))
				}
				f.pass(5 * time.Minute)
				f.logs(slices.Clone(want)...)
			}
			f.pool.MustExec(`UPDATE subscribers SET connection_date = $1 WHERE key = 8`, monday.AddDate(0, 0, -40))
			use(8, 1_000_000)
			for range 8 {
				f.pass(5 * time.Minute)
			}
			f.logs(append(want, "fired forecast p8 1 00:00")...)
		})
	}
}

// The first value is learned. One of the last few that comes back is no change, nor is
// the version of a device's software.
func TestAChangeOfAValueFires(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	change := func(traits ...condition.Trait) condition.Condition {
		return condition.Condition{Kind: condition.Change, Traits: traits}
	}
	f.create(domain.RuleCompany, "", change(condition.IMEI, condition.Country))
	f.create(domain.RuleGroupMember, "13", change(condition.Address))
	report := func(n int, imei, address, network string) {
		f.Helper()
		f.record(n, "gw", reporting(imei, address, network))
		f.pass(time.Minute)
	}
	report(1, "351234567890120100", "10.0.0.1", "23415")
	report(5, "351234567890121100", "10.0.0.5", "23415")
	f.logs()
	report(1, "351234567890120199", "10.0.0.2", "23410") // other software, address and network
	f.logs()
	report(1, "359999999999990100", "10.0.0.2", "20801")
	f.logs("fired change p1 9 12:03 35999999999999", "fired change p1 9 12:03 France")
	report(1, "351234567890120100", "10.0.0.2", "23410") // both come back
	report(5, "351234567890121100", "10.0.0.6", "23415")
	want := []string{"fired change p1 9 12:03 35999999999999", "fired change p1 9 12:03 France", "fired change p5 9 12:05 10.0.0.6"}
	f.logs(want...)
	for range 3 {
		f.pass(time.Minute)
	}
	f.logs(want...)
}

// What is more than a turn writes follows in the next turns, which are due at once: what is
// silent, what is seen again, and storms. Turns that have nothing left wait for a minute.
func TestMoreThanATurnWritesFollowsAtOnce(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int{1, 3, 7, 8} {
		t.Run(fmt.Sprint(atOnce, " at once"), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.conditions.BoundEntries(atOnce)
			report := func() {
				f.Helper()
				for n := 1; n <= 7; n++ {
					f.record(n, "gw", opening)
				}
			}
			report()
			f.create(domain.RuleCompany, "", silentFor(2))
			f.now = f.now.Add(2*time.Hour + time.Minute)
			f.record(8, "gw")
			f.follows(atOnce, "fired silent")
			f.now = f.now.Add(time.Hour)
			report()
			f.follows(atOnce, "resolved silent")
			f.create(domain.RuleCompany, "", condition.Condition{Kind: condition.Storm, Bound: 1})
			f.now = f.now.Add(time.Hour)
			report()
			report()
			f.follows(atOnce, "fired storm")
		})
	}
}

// follows has turns follow each other without a pause until all of p1 to p7 are logged.
func (f *fixture) follows(atOnce int, what string) {
	f.Helper()
	f.now = f.now.Add(time.Minute)
	for logged := min(atOnce, 7); ; logged = min(logged+atOnce, 7) {
		f.round()
		n := 0
		for _, line := range f.log() {
			if strings.HasPrefix(line, what) {
				n++
			}
		}
		if n != logged {
			f.Fatalf("%s: %d are logged, want %d", what, n, logged)
		}
		if n == 7 {
			return
		}
	}
}
