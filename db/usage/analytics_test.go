package usage_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// usageTruth answers questions about usage by looking at every record.
type usageTruth struct {
	*usageFleet
	analytics *usage.Analytics
	records   []domain.UsageRecord
	moved     time.Time
	// billing is that of the company.
	billing domain.Billing
}

// shows reports whether the scope shows what is in the group; nil stands for none.
func shows(scope domain.Scope, group *int64) bool {
	return !scope.Restricted() || group != nil && slices.Contains(scope.Groups, *group)
}

// newUsageTruth is a fleet of 12 with 70 days of usage, in which s1 moved from
// group 1 to group 2, and s0 and s4 carry the tag "red", s4 and s5 "blue".
func newUsageTruth(t *testing.T) *usageTruth { return newUsageTruthIn(t, "UTC") }

// newUsageTruthIn is that fleet of a company in a time zone.
func newUsageTruthIn(t *testing.T, zone string) *usageTruth {
	f := newUsageFleet(t, 12)
	billing, err := domain.NewBilling(1, zone)
	fatal.If(t, err)
	f.Pool.MustExec(`UPDATE companies SET time_zone = $2 WHERE company_id = $1`, f.Scope.Company, zone)
	truth := &usageTruth{
		usageFleet: f, analytics: usage.NewAnalytics(f.Usage), moved: fleettest.UsageNow.AddDate(0, 0, -20).Add(25 * time.Minute), billing: billing,
	}
	f.Join("s1", truth.moved, 2)
	f.Pool.MustExec(`UPDATE subscribers SET group_id = 2 WHERE physical_id = 's1'`)
	for tag, ids := range map[string][]string{"red": {"s0", "s4"}, "blue": {"s4", "s5"}} {
		for _, id := range ids {
			f.Pool.MustExec(`INSERT INTO subscriber_tags VALUES ($1, $2, $3)`, f.Scope.Company, f.Keys[id], tag)
		}
	}
	f.Pool.MustExec(`UPDATE subscribers SET kind = 'satellite' WHERE physical_id IN ('s1', 's2')`)
	f.Pool.MustExec(`INSERT INTO tariffs VALUES ($1, 'Fleet', 200, 'GBP')`, f.Scope.Company)
	f.Pool.MustExec(`UPDATE subscribers SET tariff_name = 'Fleet' WHERE physical_id IN ('s1', 's7')`)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		started := fleettest.UsageNow.Add(-time.Duration(r.IntN(70*24*3600)) * time.Second)
		record := domain.UsageRecord{
			RecordID: fmt.Sprint(n), Source: []string{"pgw", "ggsn"}[n%2], PhysicalID: fmt.Sprintf("s%d", r.IntN(12)),
			SessionID: fmt.Sprint(n), StartedAt: started, EndedAt: started.Add(time.Duration(r.IntN(200)) * time.Second),
			MobileOriginated: int64(r.IntN(2)) * int64(r.IntN(1000)), MobileTerminated: int64(r.IntN(5000)),
			Protocol: []string{"TCP", "UDP"}[r.IntN(2)],
		}
		if r.IntN(4) > 0 {
			record.IPAddress = netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(5))})
		}
		if record.EndedAt.After(fleettest.UsageNow) {
			record.EndedAt = record.StartedAt
		}
		if network := []string{"", "20810", "26201", "310260", "311480", "99999"}[n%6]; network != "" {
			record.Report = &domain.SessionReport{IsDelta: true, VisitedNetwork: network}
		}
		truth.records = append(truth.records, record)
	}
	for period := billing.PeriodAt(fleettest.UsageNow.AddDate(0, 0, -70)); period.End.Before(fleettest.UsageNow); period = billing.PeriodAt(period.End) {
		for n := range 12 { // on both sides of the bound
			for _, started := range []time.Time{period.End.Add(-10 * time.Minute), period.End.Add(10 * time.Minute)} {
				id := fmt.Sprint(n, " at ", started)
				truth.records = append(truth.records, domain.UsageRecord{
					RecordID: id, Source: "pgw", PhysicalID: fmt.Sprintf("s%d", n), SessionID: id, StartedAt: started, EndedAt: started, MobileOriginated: 1, Protocol: "TCP",
				})
			}
		}
	}
	f.Record(truth.records...)
	return truth
}

// groupAt is the group of the time, groupNow the present one; 0 for none.
func (u *usageTruth) groupAt(r domain.UsageRecord) int64 {
	if r.PhysicalID == "s1" && r.StartedAt.Before(u.moved) {
		return 1
	}
	return groupNow(r)
}

func groupNow(r domain.UsageRecord) int64 {
	var n int64
	_, _ = fmt.Sscanf(r.PhysicalID, "s%d", &n)
	if n == 1 {
		return 2
	}
	return n % 3
}

func tagsOf(r domain.UsageRecord) []string {
	return map[string][]string{"s0": {"red"}, "s4": {"red", "blue"}, "s5": {"blue"}}[r.PhysicalID]
}

// counts reports whether a record counts for a subject in a scope and a span.
func (u *usageTruth) counts(r domain.UsageRecord, of domain.Subject, scope domain.Scope, span domain.Range) bool {
	if r.StartedAt.Before(span.Start) || !r.StartedAt.Before(span.End) {
		return false
	}
	present := groupNow(r)
	isVisible := shows(scope, &present)
	switch of.Kind {
	case domain.GroupSubject:
		return u.groupAt(r) == of.ID && shows(scope, &of.ID)
	case domain.TagSubject:
		return isVisible && slices.Contains(tagsOf(r), string(of.Tag))
	case domain.SubscriberSubject:
		return isVisible && u.Keys[r.PhysicalID] == of.ID
	}
	return isVisible
}

func volumeOf(r domain.UsageRecord) domain.Volume {
	return domain.Volume{MobileOriginated: r.MobileOriginated, MobileTerminated: r.MobileTerminated}
}

func plus(a, b domain.Volume) domain.Volume {
	return domain.Volume{MobileOriginated: a.MobileOriginated + b.MobileOriginated, MobileTerminated: a.MobileTerminated + b.MobileTerminated}
}

// question is the query of one round.
type question struct {
	of       []domain.Subject
	scope    domain.Scope
	span     domain.Range
	interval domain.Interval
}

func (u *usageTruth) draw(t *rapid.T) question {
	q := question{scope: u.Scope}
	if rapid.Bool().Draw(t, "restricted") {
		q.scope.Groups = rapid.SampledFrom([][]int64{{1}, {2}, {1, 2}}).Draw(t, "groups")
		q.scope.Masked = rapid.SampledFrom([][]int64{nil, {1}, {2}}).Draw(t, "masked")
	}
	switch kind := domain.SubjectKind(rapid.IntRange(0, 3).Draw(t, "kind")); kind {
	case domain.CompanySubject:
		q.of = []domain.Subject{{}}
	case domain.GroupSubject:
		q.of = []domain.Subject{{Kind: kind, ID: 1}, {Kind: kind, ID: 2}}
	case domain.TagSubject:
		q.of = []domain.Subject{{Kind: kind, Tag: "blue"}, {Kind: kind, Tag: "red"}, {Kind: kind, Tag: "none"}}
	case domain.SubscriberSubject:
		for _, id := range []string{"s0", "s1", "s5", "s7"} {
			q.of = append(q.of, domain.Subject{Kind: kind, ID: u.Keys[id]})
		}
	}
	start := fleettest.UsageNow.Add(-time.Duration(rapid.IntRange(0, 80*24*60).Draw(t, "start")) * time.Minute)
	end := start.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 45, 60, 24 * 60, 3*24*60 + 17, 40 * 24 * 60}).Draw(t, "length")) * time.Minute)
	if rapid.Bool().Draw(t, "months") {
		start, end = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, rapid.IntRange(1, 20).Draw(t, "day"), 3, 0, 0, 0, time.UTC)
	}
	if rapid.Bool().Draw(t, "periods") {
		start = u.billing.PeriodAt(start).Start
		end = u.billing.PeriodAt(end).End.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "hours")) * time.Hour)
	}
	q.span, _ = domain.NewRange(start, end)
	zone := rapid.SampledFrom([]string{"UTC", "Asia/Kolkata", "America/St_Johns", "Europe/Berlin", "Europe/London", "Africa/Cairo"}).Draw(t, "zone")
	unit := rapid.SampledFrom([]domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly}).Draw(t, "unit")
	q.interval, _ = domain.NewInterval(unit, zone)
	return q
}

var dimensions = []domain.Dimension{
	domain.ByProtocol, domain.ByIPAddress, domain.ByOperator, domain.ByTariff, domain.ByGroup, domain.ByTag, domain.BySource, domain.ByCountry, domain.ByKind,
}

func TestAnalyticsAgreeWithTheRecords(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			u := newUsageTruthIn(t, zone)
			u.checkAnalytics(t)
		})
	}
}

// checkAnalytics compares random questions with what the records say.
func (u *usageTruth) checkAnalytics(t *testing.T) {
	dbtest.Check(t, func(rt *rapid.T) {
		if rapid.Bool().Draw(rt, "late") {
			u.late(rapid.IntRange(0, 61*24-1).Draw(rt, "hour"), rapid.IntRange(0, 1).Draw(rt, "used"))
		}
		if rapid.Bool().Draw(rt, "summed") {
			if err := u.Usage.SumMonths(t.Context()); err != nil {
				rt.Fatal(err)
			}
		}
		q := u.draw(rt)
		u.checkTotals(rt, q)
		u.checkSeries(rt, q)
		u.checkTop(rt, q)
		u.checkChanges(rt, q)
		for _, by := range dimensions {
			u.checkBreakdown(rt, q, by)
			u.checkSeriesBy(rt, q, by, rapid.SampledFrom([]int{1, 2, 8}).Draw(rt, "first"))
		}
		u.checkStatistics(rt, q, rapid.Int64Range(0, 300_000).Draw(rt, "above"))
		u.checkLists(rt, q)
	})
}

// late books a record of September or October, which may have been added up.
func (u *usageTruth) late(hour, used int) {
	started := time.Date(2026, 9, 1, hour, 20, 0, 0, time.UTC)
	r := domain.UsageRecord{
		RecordID: fmt.Sprint("late", len(u.records)), Source: "pgw", PhysicalID: fmt.Sprintf("s%d", hour%12), SessionID: fmt.Sprint("late", len(u.records)),
		StartedAt: started, EndedAt: started.Add(time.Minute), MobileOriginated: int64(used * 77), Protocol: "TCP", IPAddress: netip.AddrFrom4([4]byte{10, 0, 0, byte(hour % 7)}),
	}
	u.Record(r)
	u.records = append(u.records, r)
}

func mustGet[T any](value T, err error) func(*rapid.T) T {
	return func(t *rapid.T) T {
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// sameTotals compares, with no entry as good as an empty one.
func sameTotals[K comparable, V any](t *rapid.T, what string, got, want map[K]V) {
	empty := func(_ K, v V) bool {
		return reflect.ValueOf(v).IsZero() || reflect.ValueOf(v).Kind() == reflect.Slice && reflect.ValueOf(v).Len() == 0
	}
	got, want = maps.Clone(got), maps.Clone(want)
	maps.DeleteFunc(got, empty)
	maps.DeleteFunc(want, empty)
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (u *usageTruth) checkTotals(t *rapid.T, q question) {
	want := map[domain.Subject]domain.UsageTotals{}
	for _, of := range q.of {
		for _, r := range u.records {
			if u.counts(r, of, q.scope, q.span) {
				total := want[of]
				want[of] = domain.UsageTotals{Volume: plus(total.Volume, volumeOf(r)), Sessions: total.Sessions + 1}
			}
		}
	}
	for _, measures := range []domain.Measures{domain.AllMeasures, domain.Volumes, domain.SessionCounts} {
		got := mustGet(u.analytics.Totals(t.Context(), q.scope, q.of, q.span, measures))(t)
		sameTotals(t, fmt.Sprint("totals of measures ", measures), measured(got, measures), measured(want, measures))
	}
}

func (u *usageTruth) checkSeries(t *rapid.T, q question) {
	want := map[string]domain.UsageTotals{}
	for _, of := range q.of {
		for _, r := range u.records {
			if u.counts(r, of, q.scope, q.span) {
				key := fmt.Sprint(of, q.interval.StartOf(r.StartedAt.Truncate(time.Hour)).UTC())
				total := want[key]
				want[key] = domain.UsageTotals{Volume: plus(total.Volume, volumeOf(r)), Sessions: total.Sessions + 1}
			}
		}
	}
	for _, measures := range []domain.Measures{domain.AllMeasures, domain.Volumes | domain.SessionSteps, domain.Volumes, domain.SessionCounts} {
		got := map[string]domain.UsageTotals{}
		for of, points := range mustGet(u.analytics.Series(t.Context(), q.scope, q.of, q.span, q.interval, measures))(t) {
			if !slices.IsSortedFunc(points, func(x, y domain.UsagePoint) int { return x.Start.Compare(y.Start) }) {
				t.Fatalf("a series is not in order of time")
			}
			for _, p := range points {
				got[fmt.Sprint(of, p.Start.UTC())] = p.UsageTotals
			}
		}
		if measures.Has(domain.SessionSteps) && len(got) != len(want) {
			t.Fatalf("%d steps have volume or began sessions, want %d", len(got), len(want))
		}
		sameTotals(t, fmt.Sprint("series of measures ", measures), measured(got, measures), measured(want, measures))
	}
}

// measured are the totals that have some of the measures, and these alone.
func measured[K comparable](totals map[K]domain.UsageTotals, measures domain.Measures) map[K]domain.UsageTotals {
	some := map[K]domain.UsageTotals{}
	for key, total := range totals {
		if !measures.Has(domain.Volumes) {
			total.Volume = domain.Volume{}
		}
		if !measures.Has(domain.SessionCounts) {
			total.Sessions = 0
		}
		if total != (domain.UsageTotals{}) {
			some[key] = total
		}
	}
	return some
}

func (u *usageTruth) checkTop(t *rapid.T, q question) {
	for of, got := range mustGet(u.analytics.Top(t.Context(), q.scope, q.of, q.span, 3))(t) {
		want := map[int64]domain.SubscriberUsage{}
		for _, r := range u.records {
			present := groupNow(r)
			if u.counts(r, of, q.scope, q.span) && shows(q.scope, &present) {
				key := u.Keys[r.PhysicalID]
				w := want[key]
				want[key] = domain.SubscriberUsage{
					SubscriberKey: key, SubscriberID: "n-" + r.PhysicalID, Volume: plus(w.Volume, volumeOf(r)),
					LastSeen: later(w.LastSeen, q.span.Within(r.EndedAt.Truncate(time.Second))),
				}
			}
		}
		maps.DeleteFunc(want, func(_ int64, w domain.SubscriberUsage) bool { return w.Total() == 0 })
		all := slices.Collect(maps.Values(want))
		slices.SortFunc(all, func(x, y domain.SubscriberUsage) int {
			return cmp.Or(cmp.Compare(y.Total(), x.Total()), cmp.Compare(x.SubscriberKey, y.SubscriberKey))
		})
		for i, w := range all[:min(3, len(all))] {
			if i >= len(got) || got[i].SubscriberKey != w.SubscriberKey || got[i].Volume != w.Volume || !got[i].LastSeen.Equal(w.LastSeen) {
				t.Fatalf("top of %v: got %v, want %v", of, got, all)
			}
		}
	}
}

// checkChanges compares the span with one of another length near it, which may overlap it.
func (u *usageTruth) checkChanges(t *rapid.T, q question) {
	back := time.Duration(rapid.SampledFrom([]int{1, 24 * 60, 12*24*60 + 30, 35 * 24 * 60}).Draw(t, "back")) * time.Minute
	before, _ := domain.NewRange(q.span.Start.Add(-back), q.span.End.Add(-back/2))
	order := rapid.SampledFrom([]domain.ChangeOrder{domain.MostRisen, domain.MostFallen}).Draw(t, "order")
	got := mustGet(u.analytics.Changes(t.Context(), q.scope, q.of, q.span, before, order, 3))(t)
	for _, of := range q.of {
		var records []domain.UsageRecord
		for _, r := range u.records {
			if present := groupNow(r); shows(q.scope, &present) && (u.counts(r, of, q.scope, q.span) || u.counts(r, of, q.scope, before)) {
				records = append(records, r)
			}
		}
		if want := u.changesOf(records, q.span, before, order, 3); !slices.Equal(got[of], want) {
			t.Fatalf("changes of %v: got %v, want %v", of, got[of], want)
		}
	}
}

// changesOf are the changes from the span before, from the records of both.
func (f *usageFleet) changesOf(records []domain.UsageRecord, span, before domain.Range, order domain.ChangeOrder, first int) []domain.UsageChange {
	of := map[int64]domain.UsageChange{}
	for _, r := range records {
		c := of[f.Keys[r.PhysicalID]]
		c.SubscriberKey = f.Keys[r.PhysicalID]
		if !r.StartedAt.Before(span.Start) && r.StartedAt.Before(span.End) {
			c.Total += volumeOf(r).Total()
		}
		if !r.StartedAt.Before(before.Start) && r.StartedAt.Before(before.End) {
			c.Before += volumeOf(r).Total()
		}
		of[c.SubscriberKey] = c
	}
	sign := int64(1)
	if order == domain.MostFallen {
		sign = -1
	}
	maps.DeleteFunc(of, func(_ int64, c domain.UsageChange) bool { return sign*c.Change() <= 0 })
	all := slices.SortedFunc(maps.Values(of), func(x, y domain.UsageChange) int {
		return cmp.Or(cmp.Compare(sign*y.Change(), sign*x.Change()), cmp.Compare(x.SubscriberKey, y.SubscriberKey))
	})
	return all[:min(first, len(all))]
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// valuesOf are those of a record in a dimension; "" stands for none, and for
// what the scope does not show.
func (u *usageTruth) valuesOf(r domain.UsageRecord, by domain.Dimension, scope domain.Scope) []string {
	at, present := u.groupAt(r), groupNow(r)
	if by == domain.ByGroup && !shows(scope, &at) {
		return []string{""}
	}
	if slices.Contains([]domain.Dimension{domain.ByOperator, domain.ByTariff, domain.ByTag, domain.ByKind}, by) && !shows(scope, &present) {
		return []string{""}
	}
	switch by {
	case domain.BySource:
		return []string{r.Source}
	case domain.ByProtocol:
		return []string{r.Protocol}
	case domain.ByIPAddress:
		if !r.IPAddress.IsValid() {
			return nil
		}
		return []string{r.IPAddress.String()}
	case domain.ByOperator:
		return []string{"23415"}
	case domain.ByTariff:
		if slices.Contains(scope.Masked, present) {
			return []string{""}
		}
		return []string{map[bool]string{true: "Fleet", false: "IoT"}[r.PhysicalID == "s1" || r.PhysicalID == "s7"]}
	case domain.ByKind:
		return []string{map[bool]string{true: "satellite", false: "cellular"}[r.PhysicalID == "s1" || r.PhysicalID == "s2"]}
	case domain.ByCountry:
		if r.Report == nil {
			return []string{""}
		}
		return []string{map[string]string{"20810": "FR", "26201": "DE", "310260": "US", "311480": "US"}[r.Report.VisitedNetwork]}
	case domain.ByGroup:
		if g := u.groupAt(r); g != 0 {
			return []string{fmt.Sprint(g)}
		}
		return []string{""}
	}
	if tags := tagsOf(r); len(tags) > 0 {
		return tags
	}
	return []string{""}
}

func (u *usageTruth) checkBreakdown(t *rapid.T, q question, by domain.Dimension) {
	if by.CheckSpan(q.span) != nil {
		if _, err := u.analytics.Breakdown(t.Context(), q.scope, q.of, q.span, by, 100); err == nil {
			t.Fatal("the records of a long span are read")
		}
		return
	}
	want := map[string]domain.Volume{}
	for _, of := range q.of {
		for _, r := range u.records {
			if !u.counts(r, of, q.scope, q.span) {
				continue
			}
			for _, value := range u.valuesOf(r, by, q.scope) {
				key := fmt.Sprint(of, value)
				want[key] = plus(want[key], volumeOf(r))
			}
		}
	}
	got := map[string]domain.Volume{}
	for of, shares := range mustGet(u.analytics.Breakdown(t.Context(), q.scope, q.of, q.span, by, 100))(t) {
		for _, s := range shares {
			value := ""
			if s.Value != nil {
				value = *s.Value
			}
			got[fmt.Sprint(of, value)] = s.Volume
		}
	}
	sameTotals(t, "breakdown by "+string(by), got, want)
}

// checkLists compares what the documented shapes are written from.
func (u *usageTruth) checkLists(t *rapid.T, q question) {
	subscribers, addresses, hours := map[string]domain.Volume{}, map[string]domain.Volume{}, map[string]domain.Volume{}
	for _, of := range q.of {
		for _, r := range u.records {
			if !u.counts(r, of, q.scope, q.span) {
				continue
			}
			book := func(list map[string]domain.Volume, key ...any) {
				text := fmt.Sprint(of, key)
				list[text] = plus(list[text], volumeOf(r))
			}
			if present := groupNow(r); shows(q.scope, &present) {
				book(subscribers, "n-"+r.PhysicalID)
			}
			if r.IPAddress.IsValid() {
				book(addresses, r.IPAddress.String())
			}
			book(hours, r.Protocol, r.StartedAt.Truncate(time.Hour).UTC())
		}
	}
	got := map[string]domain.Volume{}
	mustGet(0, u.analytics.Subscribers(t.Context(), q.scope, q.of, q.span, func(of domain.Subject, s domain.SubscriberUsage) error {
		u.within(t, q, s.LastSeen)
		got[fmt.Sprint(of, []any{s.SubscriberID})] = s.Volume
		return nil
	}))(t)
	sameTotals(t, "by subscriber", got, subscribers)
	clear(got)
	mustGet(0, u.analytics.Addresses(t.Context(), q.scope, q.of, q.span, func(of domain.Subject, a domain.AddressUsage) error {
		u.within(t, q, a.LastSeen)
		got[fmt.Sprint(of, []any{a.IPAddress})] = a.Volume
		return nil
	}))(t)
	sameTotals(t, "by address", got, addresses)
	clear(got)
	mustGet(0, u.analytics.ProtocolHours(t.Context(), q.scope, q.of, q.span, func(of domain.Subject, h domain.ProtocolHour) error {
		got[fmt.Sprint(of, []any{h.Protocol, h.Hour.UTC()})] = h.Volume
		return nil
	}))(t)
	sameTotals(t, "by protocol", got, hours)
}

// within fails for a last time that lies outside of the span.
func (u *usageTruth) within(t *rapid.T, q question, seen time.Time) {
	if seen.Before(q.span.Start) || !seen.Before(q.span.End) {
		t.Errorf("last seen %v, outside of %v", seen, q.span)
	}
}
