package usage_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
)

// checkSeriesBy compares the parts of a series with the records, and that they add up to the
// series and the totals.
func (u *usageTruth) checkSeriesBy(t *rapid.T, q question, by domain.Dimension, first int) {
	got, err := u.analytics.SeriesBy(t.Context(), q.scope, q.of, q.span, q.interval, by, first)
	steps := len(q.interval.StartsIn(q.span))
	if refused := !by.HasHours() || by.CheckSpan(q.span) != nil || len(q.of)*(first+1)*steps > domain.MaxSeriesPoints; refused {
		if e, ok := domain.AsError(err); steps > 0 && (!ok || e.Kind != domain.KindInvalid) {
			t.Fatalf("by %s over %d steps: %v", by, steps, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range q.of {
		bytes, want := map[string]int64{}, map[string]domain.UsageTotals{}
		for _, r := range u.records {
			if u.counts(r, of, q.scope, q.span) {
				for _, value := range u.valuesOf(r, by, q.scope) {
					bytes[value] += volumeOf(r).Total()
				}
			}
		}
		own := slices.SortedFunc(maps.Keys(bytes), func(x, y string) int {
			return cmp.Or(cmp.Compare(bytes[y], bytes[x]), cmp.Compare(cmp.Or(x, "~"), cmp.Or(y, "~"))) // none comes last
		})
		for _, r := range u.records {
			if !u.counts(r, of, q.scope, q.span) {
				continue
			}
			for _, value := range u.valuesOf(r, by, q.scope) {
				if slices.Index(own, value) >= first {
					value = "others"
				}
				key := fmt.Sprint(value, q.interval.StartOf(r.StartedAt.Truncate(time.Hour)).UTC())
				total := want[key]
				total.Volume = plus(total.Volume, volumeOf(r))
				if by.CountsSessions() {
					total.Sessions++
				}
				want[key] = total
			}
		}
		is, sums, whole := map[string]domain.UsageTotals{}, map[time.Time]domain.UsageTotals{}, domain.UsageTotals{}
		for i, series := range got[of] {
			value := "others"
			if !series.IsOthers {
				value = text(series.Value)
			} else if i != len(got[of])-1 || i > first {
				t.Fatalf("others of %v are number %d of %d", of, i, len(got[of]))
			}
			var total domain.UsageTotals
			for _, p := range series.Points {
				is[fmt.Sprint(value, p.Start.UTC())] = p.UsageTotals
				total, sums[p.Start] = added(total, p.UsageTotals), added(sums[p.Start], p.UsageTotals)
			}
			if total != series.UsageTotals {
				t.Fatalf("%s of %v by %s: %v, its points are %v", value, of, by, series.UsageTotals, total)
			}
			whole = added(whole, total)
		}
		sameTotals(t, fmt.Sprintf("series of %v by %s", of, by), is, want)
		if by != domain.ByTag {
			u.checkParts(t, q, of, by, sums, whole)
		}
	}
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func added(a, b domain.UsageTotals) domain.UsageTotals {
	return domain.UsageTotals{Volume: plus(a.Volume, b.Volume), Sessions: a.Sessions + b.Sessions}
}

// checkParts holds the sums of the parts to the series of the subject, and to its totals.
func (u *usageTruth) checkParts(t *rapid.T, q question, of domain.Subject, by domain.Dimension, sums map[time.Time]domain.UsageTotals, whole domain.UsageTotals) {
	counted := func(total domain.UsageTotals) domain.UsageTotals {
		if !by.CountsSessions() {
			total.Sessions = 0
		}
		return total
	}
	want := map[time.Time]domain.UsageTotals{}
	for _, p := range mustGet(u.analytics.Series(t.Context(), q.scope, []domain.Subject{of}, q.span, q.interval, domain.AllMeasures))(t)[of] {
		want[p.Start.UTC()] = counted(p.UsageTotals)
	}
	is := map[time.Time]domain.UsageTotals{}
	for start, total := range sums {
		is[start.UTC()] = total
	}
	sameTotals(t, "the sums of the parts by "+string(by), is, want)
	if total := counted(mustGet(u.analytics.Totals(t.Context(), q.scope, []domain.Subject{of}, q.span, domain.AllMeasures))(t)[of]); whole != total {
		t.Fatalf("the parts by %s add up to %v, not %v", by, whole, total)
	}
}

func (u *usageTruth) checkStatistics(t *rapid.T, q question, above int64) {
	got := mustGet(u.analytics.Statistics(t.Context(), q.scope, q.of, q.span, above))(t)
	for _, of := range q.of {
		bySubscriber := map[string]int64{}
		for _, r := range u.records {
			if u.counts(r, of, q.scope, q.span) && volumeOf(r).Total() > 0 {
				bySubscriber[r.PhysicalID] += volumeOf(r).Total()
			}
		}
		bytes := slices.Sorted(maps.Values(bySubscriber))
		var want domain.SubscriberStatistics
		if n := len(bytes); n > 0 {
			want = domain.SubscriberStatistics{Subscribers: int64(n), Median: bytes[(n+1)/2-1], P95: bytes[(95*n+99)/100-1], Largest: bytes[n-1]}
		}
		for _, b := range bytes {
			want.Total += b
			if b > above {
				want.Above++
			}
		}
		if got[of] != want {
			t.Fatalf("statistics of %v: got %+v, want %+v", of, got[of], want)
		}
	}
}

// A company with more groups than are shown, of which one was deleted, some have nothing, and
// some usage is outside of all: whatever is shown, the parts are those of the records.
func TestGroupsOverTimeAddUpToTheCompany(t *testing.T) {
	t.Parallel()
	u := newUsageTruth(t)
	u.Pool.MustExec(`INSERT INTO groups (company_id, group_id, name) SELECT $1, n, 'Empty ' || n FROM generate_series(3, 12) n`, u.Scope.Company)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	newfoundland, err := time.LoadLocation("America/St_Johns")
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Check(t, func(rt *rapid.T) {
		q := question{of: []domain.Subject{{}}, scope: u.Scope}
		zone := rapid.SampledFrom([]*time.Location{time.UTC, berlin, newfoundland}).Draw(rt, "zone")
		// Billing periods that are whole in the span, over the change of clocks in autumn, and half ones.
		billing := domain.Billing{Day: rapid.SampledFrom([]int{1, 15}).Draw(rt, "billing day"), Zone: zone}
		q.scope.Billing = &billing
		first := time.Date(2026, 10, 1, 0, 0, 0, 0, zone)
		q.span, _ = domain.NewRange(first.AddDate(0, 0, rapid.IntRange(-10, 10).Draw(rt, "start")), first.AddDate(0, 1, rapid.IntRange(0, 19).Draw(rt, "end")))
		q.interval = domain.Interval{Unit: rapid.SampledFrom([]domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly}).Draw(rt, "unit"), Zone: zone}
		u.bill(billing.Day, zone.String())
		u.checkSeriesBy(rt, q, domain.ByGroup, rapid.IntRange(1, 14).Draw(rt, "first"))
	})
}

// Usage of a group that was deleted belongs to none, as in a breakdown.
func TestUsageOfADeletedGroupIsOutsideOfGroupsOverTime(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	at := fleettest.UsageNow.Add(-48 * time.Hour)
	f.Record(fleettest.UsageOf("s0", "a", at), fleettest.UsageOf("s1", "b", at), fleettest.UsageOf("s2", "c", at))
	f.Pool.MustExec(`UPDATE subscribers SET group_id = NULL WHERE company_id = $1 AND physical_id = 's2'`, f.Scope.Company)
	f.Pool.MustExec(`DELETE FROM groups WHERE company_id = $1 AND group_id = 2`, f.Scope.Company)
	span, _ := domain.NewRange(at.AddDate(0, 0, -1), fleettest.UsageNow)
	analytics, of := usage.NewAnalytics(f.Usage), domain.Subject{}
	daily := domain.Interval{Unit: domain.Daily, Zone: time.UTC}
	for want, scope := range map[string]domain.Scope{
		"map[:220 1:110]": f.Scope,
		"map[1:110]":      {Company: f.Scope.Company, Groups: []int64{1, 2}},
	} {
		got := map[string]int64{}
		series, err := analytics.SeriesBy(t.Context(), scope, []domain.Subject{of}, span, daily, domain.ByGroup, 8)
		for _, s := range series[of] {
			got[text(s.Value)] += s.Total()
		}
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v: got %v, want %s: %v", scope.Groups, got, want, err)
		}
		shares, err := analytics.Breakdown(t.Context(), scope, []domain.Subject{of}, span, domain.ByGroup, 8)
		for _, s := range shares[of] {
			got[text(s.Value)] -= s.Total()
		}
		for value, rest := range got {
			if rest != 0 {
				t.Errorf("%v: the breakdown of %q differs by %d: %v", scope.Groups, value, rest, err)
			}
		}
	}
}

func TestASeriesByAddressIsRefused(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 0)
	span, _ := domain.NewRange(fleettest.UsageNow.AddDate(0, 0, -1), fleettest.UsageNow)
	hourly := domain.Interval{Unit: domain.Hourly, Zone: time.UTC}
	_, err := usage.NewAnalytics(f.Usage).SeriesBy(t.Context(), f.Scope, []domain.Subject{{}}, span, hourly, domain.ByIPAddress, 8)
	if e, ok := domain.AsError(err); !ok || e.Kind != domain.KindInvalid || e.Field != "by" {
		t.Error(err)
	}
}

// 100,000 points together: one more series is refused.
func TestSeriesByAValueAreBounded(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 0)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	span := domain.Range{Start: start, End: start.Add(2000 * time.Hour)}
	hourly := domain.Interval{Unit: domain.Hourly, Zone: time.UTC}
	for first, refused := range map[int]bool{49: false, 50: true} {
		for _, of := range []domain.Subject{{}, {Kind: domain.GroupSubject, ID: 1}} {
			_, err := usage.NewAnalytics(f.Usage).SeriesBy(t.Context(), f.Scope, []domain.Subject{of}, span, hourly, domain.ByGroup, first)
			if e, ok := domain.AsError(err); refused != (ok && e.Kind == domain.KindInvalid) {
				t.Errorf("%d series: %v", first+1, err)
			}
		}
	}
}
