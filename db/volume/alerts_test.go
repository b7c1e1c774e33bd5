package volume_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

func spec(rule domain.RuleType, target string, lower, upper int64) domain.AlertSpec {
	return domain.AlertSpec{RuleType: rule, Target: target, LowerThreshold: lower, UpperThreshold: upper}
}

func TestAnAlertNeedsATargetThatTheScopeShows(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	for _, c := range []struct {
		scope domain.Scope
		spec  domain.AlertSpec
		want  domain.ErrorKind
	}{
		{f.Whole(), spec(domain.RuleSIM, "s1", 0, 1<<63-1), ""},
		{f.Whole(), spec(domain.RuleSIM, "p1", 1, 2), domain.KindNotFound},
		{f.Whole(), spec(domain.RuleSIM, "", 1, 2), domain.KindInvalid},
		{f.Whole(), spec(domain.RuleCompany, "", 1, 2), ""},
		{f.Whole(), spec(domain.RuleCompany, "acme", 1, 2), domain.KindInvalid},
		{f.Whole(), spec(domain.RuleGroup, "12", 1, 2), ""},
		{f.Whole(), spec(domain.RuleGroup, "14", 1, 2), domain.KindNotFound},
		{f.Whole(), spec(domain.RuleGroupMember, "vans", 1, 2), domain.KindInvalid},
		{f.Whole(), spec(domain.RuleGroupMember, "012", 1, 2), domain.KindInvalid},
		{f.Whole(), spec("sims", "s1", 1, 2), domain.KindInvalid},
		{f.Whole(), spec(domain.RuleSIM, "s1", 3, 2), domain.KindInvalid},
		{f.Whole(), spec(domain.RuleSIM, "s1", -1, 2), domain.KindInvalid},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleSIM, "s5", 1, 2), ""},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleSIM, "s1", 1, 2), domain.KindNotFound},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleSIM, "s9", 1, 2), domain.KindNotFound},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleGroup, "13", 1, 2), ""},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleGroup, "12", 1, 2), domain.KindNotFound},
		{fleettest.Only(fleettest.Boats), spec(domain.RuleCompany, "", 1, 2), domain.KindForbidden},
		{domain.Whole(2), spec(domain.RuleSIM, "s1", 1, 2), domain.KindNotFound},
	} {
		_, err := f.Alerts.Create(t.Context(), c.scope, c.spec)
		if got := fleettest.KindOf(err); got != c.want {
			t.Errorf("%+v of %+v: got %q, want %q", c.spec, c.scope, got, c.want)
		}
	}
}

func TestASIMTargetIsWhoHasTheNumberNow(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = 's2', is_active = false, terminate_date = '2026-01-01Z' WHERE key = 3`)
	alert := f.Create(domain.RuleSIM, "s2", 1, 2)
	fleettest.Same(t, *alert.SubscriberKey, 2)
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = 'new' WHERE key = 2`)
	found, err := f.Alerts.Find(t.Context(), f.Whole(), alert.AlertID)
	fatal.If(t, err)
	fleettest.Same(t, found.Target, "new")
}

func TestUsersOfGroupsSeeTheirAlertsOnly(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	onCompany, onVan, onBoats := f.Create(domain.RuleCompany, "", 1, 2), f.Create(domain.RuleSIM, "s1", 1, 2), f.Create(domain.RuleGroup, "13", 1, 2)
	slice, err := f.Alerts.List(t.Context(), fleettest.Only(fleettest.Boats), domain.Listing{Page: domain.Page{Limit: 10}})
	fatal.If(t, err)
	fleettest.Same(t, len(slice.Items), 1)
	fleettest.Same(t, slice.Items[0].AlertID, onBoats.AlertID)
	n, err := f.Alerts.Count(t.Context(), fleettest.Only(fleettest.Boats), domain.Listing{})
	fatal.If(t, err)
	fleettest.Same(t, n, 1)
	_, err = f.Alerts.Find(t.Context(), fleettest.Only(fleettest.Boats), onCompany.AlertID)
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	_, err = f.Alerts.Remove(t.Context(), fleettest.Only(fleettest.Boats), onCompany.AlertID)
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	_, err = f.Alerts.Edit(t.Context(), fleettest.Only(fleettest.Boats), onVan.AlertID, domain.AlertEdit{})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	_, err = f.Alerts.Remove(t.Context(), domain.Whole(2), onVan.AlertID)
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	n, err = f.Alerts.Count(t.Context(), f.Whole(), domain.Listing{})
	fatal.If(t, err)
	fleettest.Same(t, n, 3)
}

func TestTheLogShowsWhatTheScopeShowsAndOutlivesAlerts(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Use(1, 10, f.Now)
	f.Use(5, 10, f.Now)
	alerts := []*domain.VolumeAlert{
		f.Create(domain.RuleCompany, "", 1, 100), f.Create(domain.RuleSIM, "s5", 2, 100),
		f.Create(domain.RuleGroup, "13", 3, 100), f.Create(domain.RuleGroupMember, "13", 4, 100), f.Create(domain.RuleSIM, "s1", 5, 100),
	}
	for _, alert := range alerts {
		_, err := f.Alerts.Remove(t.Context(), f.Whole(), alert.AlertID)
		fatal.If(t, err)
	}
	count := func(scope domain.Scope) int {
		n, err := f.Log.Count(t.Context(), scope, domain.Listing{})
		fatal.If(t, err)
		return n
	}
	fleettest.Same(t, count(f.Whole()), 6)
	fleettest.Same(t, count(fleettest.Only(fleettest.Boats)), 3)
	fleettest.Same(t, count(domain.Whole(2)), 0)
	f.Pool.MustExec(`UPDATE subscribers SET group_id = 12 WHERE key = 5`)
	fleettest.Same(t, count(fleettest.Only(fleettest.Boats)), 1) // that of the group itself
	fleettest.Same(t, count(fleettest.Only(fleettest.Vans)), 2)  // the two of single SIMs
	_, err := f.Log.Deliveries(t.Context(), fleettest.Only(fleettest.Boats), []domain.Notified{{NotificationID: "00000000-0000-0000-0000-000000000000"}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindForbidden)
}

func TestListsOfAlertsFilterOrderAndPage(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	for n := range int64(9) {
		f.Create(domain.RuleSIM, fmt.Sprint("s", 9-n), n%3, 100+n)
	}
	f.Create(domain.RuleGroup, "12", 5, 6)
	list := func(filter, order string) (ids []string) {
		expr, err := query.ParseFilter(filter, domain.VolumeAlertFields)
		fatal.If(t, err)
		orders, err := query.ParseOrder(order, domain.VolumeAlertFields)
		fatal.If(t, err)
		listing := domain.Listing{Filter: expr, Order: orders, Page: domain.Page{Limit: 4}}
		for {
			slice, err := f.Alerts.List(t.Context(), f.Whole(), listing)
			fatal.If(t, err)
			for _, a := range slice.Items {
				ids = append(ids, a.Target)
			}
			if !slice.HasNext {
				return ids
			}
			listing.Page.Cursor = slice.Cursor(len(slice.Items) - 1)
		}
	}
	fleettest.SameLines(t, list("target in ('s1', 's2') or ruleType eq grouppr", "target DESC"), "s2", "s1", "12")
	fleettest.SameLines(t, list("lowerThreshold eq 1", "upperThreshold"), "s8", "s5", "s2")
	fleettest.SameLines(t, list("", "lowerThreshold DESC, id"), "12", "s7", "s4", "s1", "s8", "s5", "s2", "s9", "s6", "s3")
}

func TestKeepingAlertsAgainChangesNothing(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	alerts := []domain.AlertImport{
		{AlertSpec: spec(domain.RuleSIM, "s1", 1, 2)}, {AlertSpec: spec(domain.RuleSIM, "s1", 1, 3)}, {AlertSpec: spec(domain.RuleSIM, "nobody", 1, 3)},
		{AlertSpec: spec(domain.RuleCompany, "", 1, 2)}, {AlertSpec: spec(domain.RuleGroup, "12", 1, 2)}, {AlertSpec: spec(domain.RuleGroup, "99", 1, 2)},
		{AlertSpec: spec(domain.RuleSIM, "s1", 1, 2), Copy: 1}, {AlertSpec: spec(domain.RuleSIM, "s1", 1, 2), Copy: 1},
	}
	outcomes := func() (lines []string) {
		kept, err := f.Alerts.Keep(t.Context(), f.Whole(), alerts)
		fatal.If(t, err)
		for _, k := range kept {
			if k.Err != nil {
				lines = append(lines, k.Err.Message)
			} else {
				lines = append(lines, fmt.Sprint(k.Outcome))
			}
		}
		return lines
	}
	created, unchanged := fmt.Sprint(domain.Created), fmt.Sprint(domain.Unchanged)
	noSIM, noGroup := `no subscriber "nobody" on this account`, `no group "99" on this account`
	fleettest.SameLines(t, outcomes(), created, created, noSIM, created, created, noGroup, created, unchanged)
	fleettest.SameLines(t, outcomes(), unchanged, unchanged, noSIM, unchanged, unchanged, noGroup, unchanged, unchanged)
}

func TestStatesTellUsageAgainstThresholds(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	members, sim, group := f.Create(domain.RuleGroupMember, "12", 100, 200), f.Create(domain.RuleSIM, "s3", 0, 1000), f.Create(domain.RuleGroup, "12", 50, 5000)
	f.Use(1, 150, f.Now)
	f.Use(2, 50, f.Now)
	subjects, err := f.Alerts.SubjectsOf(t.Context(), f.Whole(), []int64{members.AlertID, sim.AlertID, group.AlertID}, domain.Page{Limit: 5})
	fatal.If(t, err)
	describe := func(states []*domain.VolumeAlertState) (lines []string) {
		for _, s := range states {
			who := "group"
			if s.SubscriberKey != nil {
				who = fmt.Sprint("p", *s.SubscriberKey)
			}
			percent := "-"
			if p := s.Lower().Percent; p != nil {
				percent = fmt.Sprintf("%.0f%%", *p)
			}
			lines = append(lines, fmt.Sprintf("%s %d %s %s %t", who, s.Usage, s.Status(), percent, s.Lower().Since != nil))
		}
		return lines
	}
	fleettest.SameLines(t, describe(subjects[members.AlertID]), "p1 150 FIRED 150% true", "p2 50 ARMED 50% false")
	fleettest.SameLines(t, describe(subjects[sim.AlertID]), "p3 0 ARMED - false")
	fleettest.SameLines(t, describe(subjects[group.AlertID]), "group 200 FIRED 400% true")
	exceeded, err := f.Alerts.Fired(t.Context(), f.Whole(), []int64{members.AlertID, sim.AlertID, group.AlertID})
	fatal.If(t, err)
	fleettest.Same(t, fmt.Sprint(exceeded), fmt.Sprint(map[int64]int{members.AlertID: 1, group.AlertID: 1}))
	f.Create(domain.RuleCompany, "", 1000, 1000)
	watching, err := f.Alerts.WatchingSubscribers(t.Context(), f.Whole(), []int64{3, 9})
	fatal.If(t, err)
	fleettest.SameLines(t, describe(watching[3]), "p3 0 ARMED 0% false", "p3 0 ARMED - false", "p3 0 ARMED 0% false")
	fleettest.SameLines(t, describe(watching[9]), "p9 0 ARMED 0% false")
	watching, err = f.Alerts.WatchingSubscribers(t.Context(), fleettest.Only(fleettest.Vans), []int64{3})
	fatal.If(t, err)
	fleettest.Same(t, len(watching[3]), 2)
}

func TestExplainTellsWhyOrWhyNot(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	alert := f.Create(domain.RuleGroupMember, "12", 100, 200)
	f.Use(1, 150, f.Now)
	explain := func(scope domain.Scope, subject domain.AlertSubject) string {
		e, err := f.Alerts.Explain(t.Context(), scope, alert.AlertID, subject)
		if err != nil {
			return string(fleettest.KindOf(err))
		}
		return fmt.Sprintf("%s %s", e.Lower.Reason, e.Upper.Reason)
	}
	sub := func(id string) domain.AlertSubject { return domain.AlertSubject{PhysicalID: &id} }
	fleettest.Same(t, explain(f.Whole(), sub("p1")), "FIRED BELOW_THRESHOLD")
	fleettest.Same(t, explain(f.Whole(), sub("p2")), "BELOW_THRESHOLD BELOW_THRESHOLD")
	fleettest.Same(t, explain(f.Whole(), sub("p5")), "NOT_WATCHED NOT_WATCHED")
	fleettest.Same(t, explain(f.Whole(), domain.AlertSubject{GroupID: new(fleettest.Vans)}), "NOT_WATCHED NOT_WATCHED")
	fleettest.Same(t, explain(f.Whole(), domain.AlertSubject{}), string(domain.KindInvalid))
	fleettest.Same(t, explain(f.Whole(), sub("p0")), string(domain.KindNotFound))
	fleettest.Same(t, explain(fleettest.Only(fleettest.Boats), sub("p5")), string(domain.KindNotFound))
	f.Pool.MustExec(`UPDATE subscribers SET group_id = 12 WHERE key = 5`)
	f.Pool.MustExec(`INSERT INTO subscriber_periods VALUES (1, '2026-11-01Z', 5, 101, 0, now())`)
	fleettest.Same(t, explain(f.Whole(), sub("p5")), "PENDING BELOW_THRESHOLD")
	e, err := f.Alerts.Explain(t.Context(), f.Whole(), alert.AlertID, sub("p1"))
	fatal.If(t, err)
	fleettest.Same(t, *e.Upper.Remaining, 51)
	fleettest.Same(t, e.Lower.Entry.Usage, 150)
	if !strings.Contains(e.Lower.Text, "150 bytes was above the lower threshold of 100") {
		t.Fatal(e.Lower.Text)
	}
}

func TestAPreviewFindsTheHoursInWhichAnAlertWouldHaveFired(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	usage := usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return f.Now }})
	var records []domain.UsageRecord
	book := func(id, at string, bytes int64) {
		when := fleettest.ClockAt(at)
		records = append(records, domain.UsageRecord{Source: "s", PhysicalID: id, Protocol: "TCP", StartedAt: when, EndedAt: when, MobileOriginated: bytes})
	}
	book("p1", "2026-09-30 23:59", 500) // another period
	book("p1", "2026-10-01 00:10", 60)
	book("p1", "2026-10-05 10:10", 30)
	book("p1", "2026-10-05 14:10", 30) // 120
	book("p1", "2026-10-20 09:59", 90) // 210
	book("p2", "2026-10-31 23:10", 101)
	book("p2", "2026-11-02 01:00", 150)
	book("p9", "2026-10-02 01:00", 1000)
	_, err := usage.Record(t.Context(), f.Whole(), records)
	fatal.If(t, err)
	preview := func(s domain.AlertSpec, from, to string) string {
		over, err := domain.ParseRange(from, to)
		fatal.If(t, err)
		p, err := f.Alerts.Preview(t.Context(), f.Whole(), s, over)
		fatal.If(t, err)
		lines := []string{fmt.Sprintf("%d of %d", p.Total, p.Subjects)}
		for _, firing := range p.Firings {
			who := "group"
			if firing.SubscriberKey != nil {
				who = fmt.Sprint("p", *firing.SubscriberKey)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %d", who, firing.Boundary, firing.At.UTC().Format("01-02 15h"), firing.Usage))
		}
		return strings.Join(lines, "; ")
	}
	fleettest.Same(t, preview(spec(domain.RuleSIM, "s1", 100, 200), "2026-10-01", "2026-10-31"), "2 of 1; p1 lower 10-05 14h 120; p1 upper 10-20 09h 210")
	fleettest.Same(t, preview(spec(domain.RuleSIM, "s1", 100, 200), "2026-10-06", "2026-10-31"), "1 of 1; p1 upper 10-20 09h 210")
	fleettest.Same(t, preview(spec(domain.RuleGroupMember, "12", 100, 200), "2026-10-01", "2026-11-30"),
		"4 of 2; p1 lower 10-05 14h 120; p1 upper 10-20 09h 210; p2 lower 10-31 23h 101; p2 lower 11-02 01h 150")
	fleettest.Same(t, preview(spec(domain.RuleGroup, "12", 205, 300), "2026-10-01", "2026-10-31"), "2 of 1; group lower 10-20 09h 210; group upper 10-31 23h 311")
	fleettest.Same(t, preview(spec(domain.RuleCompany, "", 900, 9000), "2026-10-01", "2026-10-31"), "1 of 1; p9 lower 10-02 01h 1000")
	fleettest.Same(t, preview(spec(domain.RuleCompany, "", 9000, 9000), "2026-10-01", "2026-10-31"), "0 of 0")
}
