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

// Sources are watched as long as silence is.
func TestWithoutAlertsNoSourceIsWatched(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.record(1, "gw")
	of := f.create(domain.RuleSIM, "s1", silentFor(1))
	f.pass(2 * time.Hour)
	f.logs("fired source gw 9 12:00")
	if open := f.opened(); open != 1 {
		t.Errorf("%d entries are open", open)
	}
	_, err := f.conditions.Remove(t.Context(), scope, of.AlertID)
	f.must(err)
	f.pass(time.Minute)
	f.record(1, "gw")
	f.pass(time.Minute)
	f.logs("fired source gw 9 12:00")
	if open := f.opened(); open != 0 {
		t.Errorf("%d entries are open without an alert", open)
	}
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
