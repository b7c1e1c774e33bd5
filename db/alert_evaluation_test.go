package db_test

import (
	"testing"

	"simgraph/db/fleettest"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestEachRuleFiresForItsSubjects(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	f.create(domain.RuleSIM, "s1", 100, 1000)
	f.create(domain.RuleCompany, "", 300, 1000)
	f.create(domain.RuleGroup, "12", 450, 1000)
	f.create(domain.RuleGroupMember, "13", 200, 1000)
	f.use(1, 100, f.now) // not above 100
	f.use(1, 1, f.now)
	f.use(2, 301, f.now)
	f.use(5, 150, f.now)
	f.use(2, 48, f.now) // the vans have 450
	f.use(1, 1, f.now)
	f.use(5, 51, f.now)
	f.use(9, 301, f.now)
	sameLines(t, f.fired(),
		"sim s1 lower of p1 at 101",
		"company  lower of p2 at 301",
		"grouppr 12 lower at 451",
		"groupfptp 13 lower of p5 at 201",
		"company  lower of p9 at 301")
}

func TestBothBoundariesAtOnceAreTwoEntriesAndOneNotification(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	_, err := f.recipients.Create(t.Context(), f.whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	f.create(domain.RuleSIM, "s1", 0, 10)
	f.use(1, 11, f.now)
	f.use(1, 11, f.now)
	sameLines(t, f.fired(), "sim s1 lower of p1 at 11", "sim s1 upper of p1 at 11")
	var deliveries int
	fatal.If(t, f.pool.Get(&deliveries, `SELECT count(*) FROM alert_deliveries`))
	same(t, deliveries, 1)
}

func TestAnAlertAboveWhichUsageIsAlreadyFiresWhenMade(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	f.use(1, 500, clockAt("2026-10-31 23:59"))
	f.use(1, 200, f.now)
	f.use(2, 100, f.now)
	f.use(5, 101, f.now)
	f.create(domain.RuleSIM, "s1", 199, 200)
	f.create(domain.RuleCompany, "", 100, 1000)
	f.create(domain.RuleGroup, "12", 299, 300)
	f.create(domain.RuleGroupMember, "13", 100, 100)
	sameLines(t, f.fired(),
		"sim s1 lower of p1 at 200",
		"company  lower of p1 at 200", "company  lower of p5 at 101",
		"grouppr 12 lower at 300",
		"groupfptp 13 lower of p5 at 101", "groupfptp 13 upper of p5 at 101")
}

func TestAnotherValueArmsAThresholdAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	alert := f.create(domain.RuleSIM, "s1", 100, 1000)
	edit := func(lower, upper int64) {
		_, err := f.alerts.Edit(t.Context(), f.whole(), alert.AlertID, domain.AlertEdit{LowerThreshold: &lower, UpperThreshold: &upper})
		fatal.If(t, err)
	}
	f.use(1, 150, f.now)
	edit(100, 1000) // the same values
	edit(120, 1000) // fires at once, since usage is above it
	edit(200, 1000)
	edit(120, 1000) // back again is another revision
	f.use(1, 1000, f.now)
	sameLines(t, f.fired(),
		"sim s1 lower of p1 at 150", "sim s1 lower of p1 at 150", "sim s1 lower of p1 at 150", "sim s1 upper of p1 at 1150")
}

// An edit evaluates a threshold again that has fired: its entry conflicts, and
// makes no delivery.
func TestAFiredAlertThatIsEditedMakesNoDelivery(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	fleettest.Must[*domain.Recipient](t)(f.recipients.Create(t.Context(), f.whole(), "ops@acme.example", domain.Choice{}))
	alert := f.create(domain.RuleSIM, "s1", 100, 1000)
	f.use(1, 150, f.now)
	deliveries := func() (n int) {
		fatal.If(t, f.pool.Get(&n, `SELECT count(*) FROM alert_deliveries WHERE company_id = $1`, f.company.CompanyID))
		return n
	}
	if n := deliveries(); n != 1 {
		t.Fatalf("%d deliveries before the edit, want 1", n)
	}
	lower, upper := int64(100), int64(2000)
	fleettest.Must[*domain.VolumeAlert](t)(f.alerts.Edit(t.Context(), f.whole(), alert.AlertID, domain.AlertEdit{LowerThreshold: &lower, UpperThreshold: &upper}))
	if n := deliveries(); n != 1 {
		t.Errorf("%d deliveries after the edit, want 1", n)
	}
}

func TestANewPeriodArmsAgain(t *testing.T) {
	t.Parallel()
	// The periods of anchor day 31 in London: 28 February, 31 March (one hour
	// earlier in UTC: summer time), 30 April.
	f := newFleet(t, 31, "Europe/London", clockAt("2026-03-01 00:00"))
	f.create(domain.RuleSIM, "s1", 100, 1000)
	f.now = clockAt("2026-03-30 22:59")
	f.use(1, 101, f.now)
	f.now = clockAt("2026-03-30 23:00")
	f.use(1, 101, f.now)
	f.use(1, 1, clockAt("2026-03-30 22:59")) // late, but over the threshold before
	f.now = clockAt("2026-04-29 23:00")
	f.use(1, 101, f.now)
	sameLines(t, f.fired(), "sim s1 lower of p1 at 101", "sim s1 lower of p1 at 101", "sim s1 lower of p1 at 101")
	var starts []string
	fatal.If(t, f.pool.Select(&starts, `SELECT to_char(period_start AT TIME ZONE 'UTC', 'MM-DD HH24:MI') FROM alert_log ORDER BY 1`))
	sameLines(t, starts, "02-28 00:00", "03-30 23:00", "04-29 23:00")
}

func TestLateUsageFiresForThreeDaysAndIsLoggedAfter(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-10-10 12:00"))
	f.create(domain.RuleSIM, "s1", 100, 200)
	f.create(domain.RuleSIM, "s2", 100, 200)
	f.now = clockAt("2026-11-03 23:59")
	f.create(domain.RuleSIM, "s1", 50, 50) // does not watch what was before it
	f.use(1, 150, clockAt("2026-10-31 12:00"))
	f.now = clockAt("2026-11-04 00:00")
	f.use(1, 100, clockAt("2026-10-31 12:00"))
	f.use(2, 100, clockAt("2026-10-31 12:00"))
	sameLines(t, f.fired(), "sim s1 lower of p1 at 150 late", "sim s1 upper of p1 at 250 late unmailed")
}

func TestAMemberThatMovesIntoAWatchedGroupFires(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	f.create(domain.RuleGroupMember, "13", 100, 200)
	f.use(1, 150, f.now)
	tx := f.pool.MustBegin()
	tx.MustExec(`UPDATE subscribers SET group_id = 13 WHERE key = 1`)
	fatal.If(t, volume.FireMoved(t.Context(), tx, 1, []string{"p1", "p2"}, f.now))
	fatal.If(t, volume.FireMoved(t.Context(), tx, 1, []string{"p1", "p2"}, f.now))
	fatal.If(t, tx.Commit())
	f.use(1, 51, f.now)
	sameLines(t, f.fired(), "groupfptp 13 lower of p1 at 150", "groupfptp 13 upper of p1 at 201")
}

func TestTheLargestThresholdNeverFires(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	f.create(domain.RuleSIM, "s1", 1<<63-1, 1<<63-1)
	f.use(1, 1<<40, f.now)
	sameLines(t, f.fired())
}
