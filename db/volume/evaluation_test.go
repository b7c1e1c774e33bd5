package volume_test

import (
	"testing"

	"simgraph/db/fleettest"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestEachRuleFiresForItsSubjects(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Create(domain.RuleSIM, "s1", 100, 1000)
	f.Create(domain.RuleCompany, "", 300, 1000)
	f.Create(domain.RuleGroup, "12", 450, 1000)
	f.Create(domain.RuleGroupMember, "13", 200, 1000)
	f.Use(1, 100, f.Now) // not above 100
	f.Use(1, 1, f.Now)
	f.Use(2, 301, f.Now)
	f.Use(5, 150, f.Now)
	f.Use(2, 48, f.Now) // the vans have 450
	f.Use(1, 1, f.Now)
	f.Use(5, 51, f.Now)
	f.Use(9, 301, f.Now)
	fleettest.SameLines(t, f.Fired(),
		"sim s1 lower of p1 at 101",
		"company  lower of p2 at 301",
		"grouppr 12 lower at 451",
		"groupfptp 13 lower of p5 at 201",
		"company  lower of p9 at 301")
}

func TestBothBoundariesAtOnceAreTwoEntriesAndOneNotification(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	_, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	f.Create(domain.RuleSIM, "s1", 0, 10)
	f.Use(1, 11, f.Now)
	f.Use(1, 11, f.Now)
	fleettest.SameLines(t, f.Fired(), "sim s1 lower of p1 at 11", "sim s1 upper of p1 at 11")
	var deliveries int
	fatal.If(t, f.Pool.Get(&deliveries, `SELECT count(*) FROM alert_deliveries`))
	fleettest.Same(t, deliveries, 1)
}

func TestAnAlertAboveWhichUsageIsAlreadyFiresWhenMade(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Use(1, 500, fleettest.ClockAt("2026-10-31 23:59"))
	f.Use(1, 200, f.Now)
	f.Use(2, 100, f.Now)
	f.Use(5, 101, f.Now)
	f.Create(domain.RuleSIM, "s1", 199, 200)
	f.Create(domain.RuleCompany, "", 100, 1000)
	f.Create(domain.RuleGroup, "12", 299, 300)
	f.Create(domain.RuleGroupMember, "13", 100, 100)
	fleettest.SameLines(t, f.Fired(),
		"sim s1 lower of p1 at 200",
		"company  lower of p1 at 200", "company  lower of p5 at 101",
		"grouppr 12 lower at 300",
		"groupfptp 13 lower of p5 at 101", "groupfptp 13 upper of p5 at 101")
}

func TestAnotherValueArmsAThresholdAgain(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	alert := f.Create(domain.RuleSIM, "s1", 100, 1000)
	edit := func(lower, upper int64) {
		_, err := f.Alerts.Edit(t.Context(), f.Whole(), alert.AlertID, domain.AlertEdit{LowerThreshold: &lower, UpperThreshold: &upper})
		fatal.If(t, err)
	}
	f.Use(1, 150, f.Now)
	edit(100, 1000) // the same values
	edit(120, 1000) // fires at once, since usage is above it
	edit(200, 1000)
	edit(120, 1000) // back again is another revision
	f.Use(1, 1000, f.Now)
	fleettest.SameLines(t, f.Fired(),
		"sim s1 lower of p1 at 150", "sim s1 lower of p1 at 150", "sim s1 lower of p1 at 150", "sim s1 upper of p1 at 1150")
}

// An edit evaluates a threshold again that has fired: its entry conflicts, and
// makes no delivery.
func TestAFiredAlertThatIsEditedMakesNoDelivery(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	fleettest.Must[*domain.Recipient](t)(f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{}))
	alert := f.Create(domain.RuleSIM, "s1", 100, 1000)
	f.Use(1, 150, f.Now)
	deliveries := func() (n int) {
		fatal.If(t, f.Pool.Get(&n, `SELECT count(*) FROM alert_deliveries WHERE company_id = $1`, f.Company.CompanyID))
		return n
	}
	if n := deliveries(); n != 1 {
		t.Fatalf("%d deliveries before the edit, want 1", n)
	}
	lower, upper := int64(100), int64(2000)
	fleettest.Must[*domain.VolumeAlert](t)(f.Alerts.Edit(t.Context(), f.Whole(), alert.AlertID, domain.AlertEdit{LowerThreshold: &lower, UpperThreshold: &upper}))
	if n := deliveries(); n != 1 {
		t.Errorf("%d deliveries after the edit, want 1", n)
	}
}

func TestANewPeriodArmsAgain(t *testing.T) {
	t.Parallel()
	// The periods of anchor day 31 in London: 28 February, 31 March (one hour
	// earlier in UTC: summer time), 30 April.
	f := fleettest.NewFleet(t, 31, "Europe/London", fleettest.ClockAt("2026-03-01 00:00"))
	f.Create(domain.RuleSIM, "s1", 100, 1000)
	f.Now = fleettest.ClockAt("2026-03-30 22:59")
	f.Use(1, 101, f.Now)
	f.Now = fleettest.ClockAt("2026-03-30 23:00")
	f.Use(1, 101, f.Now)
	f.Use(1, 1, fleettest.ClockAt("2026-03-30 22:59")) // late, but over the threshold before
	f.Now = fleettest.ClockAt("2026-04-29 23:00")
	f.Use(1, 101, f.Now)
	fleettest.SameLines(t, f.Fired(), "sim s1 lower of p1 at 101", "sim s1 lower of p1 at 101", "sim s1 lower of p1 at 101")
	var starts []string
	fatal.If(t, f.Pool.Select(&starts, `SELECT to_char(period_start AT TIME ZONE 'UTC', 'MM-DD HH24:MI') FROM alert_log ORDER BY 1`))
	fleettest.SameLines(t, starts, "02-28 00:00", "03-30 23:00", "04-29 23:00")
}

func TestLateUsageFiresForThreeDaysAndIsLoggedAfter(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-10-10 12:00"))
	f.Create(domain.RuleSIM, "s1", 100, 200)
	f.Create(domain.RuleSIM, "s2", 100, 200)
	f.Now = fleettest.ClockAt("2026-11-03 23:59")
	f.Create(domain.RuleSIM, "s1", 50, 50) // does not watch what was before it
	f.Use(1, 150, fleettest.ClockAt("2026-10-31 12:00"))
	f.Now = fleettest.ClockAt("2026-11-04 00:00")
	f.Use(1, 100, fleettest.ClockAt("2026-10-31 12:00"))
	f.Use(2, 100, fleettest.ClockAt("2026-10-31 12:00"))
	fleettest.SameLines(t, f.Fired(), "sim s1 lower of p1 at 150 late", "sim s1 upper of p1 at 250 late unmailed")
}

func TestAMemberThatMovesIntoAWatchedGroupFires(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Create(domain.RuleGroupMember, "13", 100, 200)
	f.Use(1, 150, f.Now)
	tx := f.Pool.MustBegin()
	tx.MustExec(`UPDATE subscribers SET group_id = 13 WHERE key = 1`)
	fatal.If(t, volume.FireMoved(t.Context(), tx, 1, []string{"p1", "p2"}, f.Now))
	fatal.If(t, volume.FireMoved(t.Context(), tx, 1, []string{"p1", "p2"}, f.Now))
	fatal.If(t, tx.Commit())
	f.Use(1, 51, f.Now)
	fleettest.SameLines(t, f.Fired(), "groupfptp 13 lower of p1 at 150", "groupfptp 13 upper of p1 at 201")
}

func TestTheLargestThresholdNeverFires(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Create(domain.RuleSIM, "s1", 1<<63-1, 1<<63-1)
	f.Use(1, 1<<40, f.Now)
	fleettest.SameLines(t, f.Fired())
}
