package usage_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// A fleet in which more have usage than are counted at first, evenly or with a
// few that have most of it.
func TestTheTopOfAFleetIsThatOfAllItsRecords(t *testing.T) {
	t.Parallel()
	const fleet = 400
	f := newUsageFleet(t, fleet)
	r := rand.New(rand.NewPCG(3, 4))
	var records []domain.UsageRecord
	for n := range 6 * fleet {
		started := fleettest.UsageNow.Add(-time.Duration(r.IntN(60*24*3600)) * time.Second)
		weight := math.Pow(r.Float64(), float64(1+r.IntN(9)))
		records = append(records, domain.UsageRecord{
			RecordID: fmt.Sprint(n), Source: "pgw", PhysicalID: fmt.Sprintf("s%d", r.IntN(fleet)),
			StartedAt: started, EndedAt: started, MobileTerminated: int64(weight * 1e6), Protocol: "TCP",
		})
	}
	f.Record(records...)
	analytics := usage.NewAnalytics(f.Usage)
	var spans []domain.Range
	for _, days := range []int{6, 8, 28, 40, 61} {
		span, _ := domain.NewRange(fleettest.UsageNow.AddDate(0, 0, -days), fleettest.UsageNow.AddDate(0, 0, 1-days%2*2))
		spans = append(spans, span)
	}
	month := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for _, end := range []time.Time{month.AddDate(0, 1, 0), month.AddDate(0, 1, -3), month.AddDate(0, 2, -9)} {
		span, _ := domain.NewRange(month, end)
		spans = append(spans, span)
	}
	for _, span := range spans {
		for _, first := range []int{1, 3, 100} {
			got, err := analytics.Top(t.Context(), f.Scope, []domain.Subject{{}}, span, first)
			if err != nil {
				t.Fatal(err)
			}
			f.checkTopOf(t, got[domain.Subject{}], records, span, first)
			f.checkChangesOf(t, analytics, records, span, first)
		}
	}
}

func (f *usageFleet) checkTopOf(t *testing.T, got []domain.SubscriberUsage, records []domain.UsageRecord, span domain.Range, first int) {
	t.Helper()
	sums := map[int64]int64{}
	for _, r := range records {
		if !r.StartedAt.Before(span.Start) && r.StartedAt.Before(span.End) {
			sums[f.Keys[r.PhysicalID]] += r.MobileTerminated
		}
	}
	var keys []int64
	for key, sum := range sums {
		if sum > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y int64) int { return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(x, y)) })
	keys = keys[:min(first, len(keys))]
	if len(got) != len(keys) {
		t.Fatalf("%s to %s: %d at the top, want %d", span.Start, span.End, len(got), len(keys))
	}
	for i, key := range keys {
		if got[i].SubscriberKey != key || got[i].Total() != sums[key] {
			t.Fatalf("%s to %s: place %d is %v, want %d with %d", span.Start, span.End, i, got[i], key, sums[key])
		}
	}
}

func (f *usageFleet) checkChangesOf(t *testing.T, analytics *usage.Analytics, records []domain.UsageRecord, span domain.Range, first int) {
	t.Helper()
	before, _ := domain.NewRange(span.Start.AddDate(0, 0, -9), span.End.AddDate(0, 0, -9))
	for _, order := range []domain.ChangeOrder{domain.MostRisen, domain.MostFallen} {
		got, err := analytics.Changes(t.Context(), f.Scope, []domain.Subject{{}}, span, before, order, first)
		if err != nil {
			t.Fatal(err)
		}
		if want := f.changesOf(records, span, before, order, first); !slices.Equal(got[domain.Subject{}], want) {
			t.Fatalf("%s to %s, %s: got %v, want %v", span.Start, span.End, order, got[domain.Subject{}], want)
		}
	}
}

// Whole billing periods are read for days wherever neither the group nor the hour matters, in
// each time zone whose periods begin with an hour.
func TestWholeBillingPeriodsAreNotReadByTheDay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/Chicago"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			f := newUsageFleet(t, 3)
			f.Pool.MustExec(`UPDATE companies SET time_zone = $2 WHERE company_id = $1`, f.Scope.Company, zone)
			billing, err := domain.NewBilling(1, zone)
			fatal.If(t, err)
			f.Scope.Billing = &billing
			recorded := dbtest.NewRecorder(t, f.Pool)
			analytics := usage.NewAnalytics(usage.New(recorded.Pool, nil, usage.Options{}))
			period := billing.PeriodAt(fleettest.UsageNow)
			before := billing.PeriodAt(period.Start.Add(-time.Hour))
			span, last := domain.Range{Start: period.Start, End: period.End}, domain.Range{Start: before.Start, End: before.End}
			for _, of := range []domain.Subject{{}, {Kind: domain.TagSubject, Tag: "red"}, {Kind: domain.SubscriberSubject, ID: f.Keys["s1"]}} {
				subjects := []domain.Subject{of}
				for name, read := range map[string]func() error{
					"totals": func() error {
						_, err := analytics.Totals(t.Context(), f.Scope, subjects, span, domain.Volumes)
						return err
					},
					"top": func() error { _, err := analytics.Top(t.Context(), f.Scope, subjects, span, 5); return err },
					"breakdown": func() error {
						_, err := analytics.Breakdown(t.Context(), f.Scope, subjects, span, domain.ByOperator, 5)
						return err
					},
					"changes": func() error {
						_, err := analytics.Changes(t.Context(), f.Scope, subjects, span, last, domain.MostRisen, 5)
						return err
					},
				} {
					fatal.If(t, read())
					if sql, _ := recorded.Last(); strings.Contains(sql, "subscriber_days") {
						t.Errorf("%s of %v are read by the day:\n%s", name, of, sql)
					}
				}
			}
		})
	}
}
