package fleettest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/retention"
	"simgraph/internal/fatal"
)

func TestTheInventoryIsTheOneThatIsDescribed(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	var lines []string
	fatal.If(t, pool.Select(&lines, `
SELECT concat_ws(' ', s.physical_id, coalesce(s.group_id, 0), p.physical_id, (SELECT string_agg(g.tag_name, ',') FROM subscriber_tags g WHERE g.company_id = s.company_id AND g.subscriber_key = s.key))
FROM subscribers s
LEFT JOIN subscribers p ON p.company_id = s.company_id AND p.key = s.parent_key
ORDER BY s.company_id, s.physical_id`))
	want := []string{"p01 12 fleet", "p02 12 p01 fleet", "p03 12 p01 fleet", "p04 12 fleet", "p05 12", "p06 12", "p07 13", "p08 13 z", "p09 0"}
	fleettest.SameLines(t, lines, slices.Concat(want, want)...)
	var hiding []int64
	fatal.If(t, pool.Select(&hiding, `SELECT group_id FROM groups WHERE company_id = $1 AND hide_tariff_details`, fleettest.Acme))
	if !slices.Equal(hiding, fleettest.VansOnly.Masked) || !slices.Equal(fleettest.VansOnly.Groups, []int64{12}) || fleettest.All.Restricted() {
		t.Errorf("%v hide tariff details", hiding)
	}
}

func TestTheFleetIsTheOneThatIsDescribed(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 15, "Europe/Berlin", fleettest.ClockAt("2026-11-20 12:00"))
	var lines []string
	fatal.If(t, f.Pool.Select(&lines, `
SELECT concat_ws(' ', s.key, s.physical_id, s.subscriber_id, coalesce(s.group_id, 0), coalesce(m.group_id, 0))
FROM subscribers s
JOIN group_memberships m ON m.company_id = s.company_id AND m.subscriber_key = s.key
WHERE s.company_id = 1
ORDER BY s.key`))
	var want []string
	for n, group := range []int64{fleettest.Vans, fleettest.Vans, fleettest.Vans, fleettest.Vans, fleettest.Boats, fleettest.Boats, fleettest.Boats, fleettest.Boats, 0, 0} {
		want = append(want, fmt.Sprintf("%d p%[1]d s%[1]d %d %[2]d", n+1, group))
	}
	fleettest.SameLines(t, lines, want...)
	if f.Whole().Restricted() || !slices.Equal(fleettest.Only(12, 13).Groups, []int64{12, 13}) {
		t.Error("the scopes show something else")
	}
}

// What is used fires alerts at the time of the fleet, is written in the log, and is mailed once.
func TestUsageOfTheFleetFiresAlerts(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
	_, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	f.Create(domain.RuleSIM, "s1", 100, 200)
	f.Create(domain.RuleGroup, "12", 100, 300)
	f.Use(1, 150, f.Now)
	f.Use(2, 50, f.Now)
	f.Use(9, 1000, f.Now)
	fleettest.SameLines(t, f.Fired(), "sim s1 lower of p1 at 150", "grouppr 12 lower at 150")
	got := f.Mailed()
	if len(got) != 1 || got["ops@acme.example"] != "grouppr 12, sim s1" {
		t.Errorf("mailed are %v", got)
	}
	if again := f.Mailed(); len(again) != 0 {
		t.Errorf("mailed again are %v", again)
	}
}

func TestTheFleetOfUsageIsTheOneThatIsDescribed(t *testing.T) {
	t.Parallel()
	f := fleettest.NewUsageFleet(t, 4)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "rival", 1)
	var lines []string
	fatal.If(t, f.Pool.Select(&lines, `
SELECT concat_ws(' ', s.physical_id, s.key, coalesce(s.group_id, 0), coalesce(m.group_id, 0), m.since AT TIME ZONE 'UTC')
FROM subscribers s
JOIN group_memberships m ON m.company_id = s.company_id AND m.subscriber_key = s.key
WHERE s.company_id = $1
ORDER BY s.physical_id`, f.Scope.Company))
	var want []string
	for n := range 4 {
		want = append(want, fmt.Sprintf("s%d %d %d %[3]d 2026-01-01 00:00:00", n, f.Keys[fmt.Sprintf("s%d", n)], n%3))
	}
	fleettest.SameLines(t, lines, want...)
	began := fleettest.UsageNow.Add(-time.Hour)
	sound, reading := fleettest.UsageOf("s0", "r1", began), fleettest.ReadingOf("s1", "session", began, 0, 0, 0)
	fleettest.Same(t, f.Statuses(sound, sound), "accepted duplicate")
	fleettest.Same(t, f.Statuses(reading, fleettest.ReadingOf("s1", "session", began, 10, 20, 200)), "accepted accepted")
	fleettest.Same(t, f.Int(fleettest.BookedBytes), 30*1000+300)
	fleettest.Same(t, other.Int(fleettest.BookedBytes), 0)
	f.MustAgree()
	f.NameSubscribers()
	fleettest.Same(t, f.Int(`SELECT count(*) FROM subscribers WHERE company_id = $1 AND imsi = '23415' || substr(physical_id, 2) AND subscriber_id = '4477' || substr(physical_id, 2)`), 4)
	f.Join("s0", began, 2)
	fleettest.Same(t, f.Int(`SELECT count(*) FROM group_memberships WHERE company_id = $1 AND subscriber_key = $2`, f.Keys["s0"]), 2)
}

// ended notes why a test would have ended.
type ended struct {
	testing.TB
	failed bool
}

func (e *ended) Helper()               {}
func (e *ended) Fatalf(string, ...any) { e.failed = true }
func (e *ended) Fatal(...any)          { e.failed = true }

// A check of these that never fails would let every test of a store pass.
func TestTheChecksFail(t *testing.T) {
	t.Parallel()
	van := []*domain.Subscriber{{PhysicalID: "p1"}, {PhysicalID: "p2"}}
	for name, c := range map[string]struct {
		check func(t testing.TB)
		fails bool
	}{
		"the same":            {func(t testing.TB) { fleettest.Same(t, 1, 1) }, false},
		"others":              {func(t testing.TB) { fleettest.Same(t, 1, 2) }, true},
		"the same lines":      {func(t testing.TB) { fleettest.SameLines(t, []string{"a", "b"}, "a", "b") }, false},
		"other lines":         {func(t testing.TB) { fleettest.SameLines(t, []string{"a b"}, "a", "b") }, true},
		"the kind":            {func(t testing.TB) { fleettest.WantKind(t, domain.Forbidden("no"), domain.KindForbidden) }, false},
		"another kind":        {func(t testing.TB) { fleettest.WantKind(t, domain.Forbidden("no"), domain.KindNotFound) }, true},
		"no error":            {func(t testing.TB) { fleettest.WantKind(t, nil, domain.KindNotFound) }, true},
		"the ids":             {func(t testing.TB) { fleettest.WantIDs(t, van, "p1", "p2") }, false},
		"ids in other order":  {func(t testing.TB) { fleettest.WantIDs(t, van, "p2", "p1") }, true},
		"a value":             {func(t testing.TB) { fleettest.Must[int](t)(1, nil) }, false},
		"an error of a value": {func(t testing.TB) { fleettest.Must[int](t)(1, domain.Forbidden("no")) }, true},
	} {
		e := &ended{TB: t}
		if c.check(e); e.failed != c.fails {
			t.Errorf("%s: it fails: %v", name, e.failed)
		}
	}
}

func TestWordsOfChecks(t *testing.T) {
	t.Parallel()
	fleettest.Same(t, fleettest.KindOf(nil), "")
	fleettest.Same(t, fleettest.KindOf(fmt.Errorf("edit: %w", domain.Forbidden("no"))), domain.KindForbidden)
	fleettest.Same(t, fleettest.Text(nil)+fleettest.Text(new("x")), "nothingx")
	fleettest.Same(t, fleettest.ClockAt("2026-11-20 12:30"), fleettest.UsageNow)
	now := fleettest.ClockAt("2026-11-20 12:00")
	fleettest.Same(t, fleettest.Expired(t, retention.Mails, 90, now).Before(retention.Mails), now.AddDate(0, 0, -90))
	equal := fleettest.Equal(t, domain.SubscriberFields, "nickname", "van")
	listing := fleettest.Listing(t, "nickname eq van", "nickname desc", 7)
	if fmt.Sprint(equal) != fmt.Sprint(listing.Filter) || listing.Page.Limit != 7 || len(listing.Order) != 1 || !listing.Order[0].Desc {
		t.Errorf("%v and %+v", equal, listing)
	}
	var _ query.Expr = equal
	if ids := strings.Join(fleettest.PhysicalIDs([]*domain.Subscriber{{PhysicalID: "p2"}, {PhysicalID: "p1"}}), " "); ids != "p2 p1" {
		t.Error(ids)
	}
}
