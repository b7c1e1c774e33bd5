package usage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// exportedRows are the rows of an export.
func exportedRows(t *testing.T, from domain.UsageExports, scope domain.Scope, export domain.UsageExport) (rows []domain.UsageRow) {
	t.Helper()
	err := from.Rows(t.Context(), scope, export, func(row domain.UsageRow) error {
		rows = append(rows, row)
		return nil
	})
	fatal.If(t, err)
	return rows
}

// The rows of an export add up to the records, for each subscriber, interval and value, and
// those after any row are exactly the rest.
func TestExportedUsageIsThatOfTheRecords(t *testing.T) {
	t.Parallel()
	u := newUsageTruth(t)
	exports := subscriber.NewUsageExports(u.Pool)
	london, err := time.LoadLocation("Europe/London")
	fatal.If(t, err)
	span := domain.Range{Start: time.Date(2026, 10, 24, 3, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 2, 5, 0, 0, 0, time.UTC)} // over a change of clocks
	days := domain.Range{Start: span.Start.Truncate(24 * time.Hour), End: span.End.Truncate(24 * time.Hour)}
	restricted := u.Scope
	restricted.Groups = []int64{2}
	masked := u.Scope
	masked.Masked = []int64{1}
	for _, unit := range []domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly} {
		for _, split := range append([]domain.Dimension{""}, domain.ExportSplits...) {
			for name, scope := range map[string]domain.Scope{"whole": u.Scope, "of a group": restricted, "without tariffs": masked} {
				for _, zone := range []*time.Location{time.UTC, london} {
					export := domain.UsageExport{Span: span, By: domain.Interval{Unit: unit, Zone: zone}, Split: split}
					if split == domain.ByIPAddress {
						if export.Span = days; export.Check() != nil {
							continue
						}
					}
					t.Run(fmt.Sprint(unit, split, name, zone), func(t *testing.T) { u.checkExport(t, exports, scope, export) })
				}
			}
		}
	}
}

func (u *usageTruth) checkExport(t *testing.T, exports domain.UsageExports, scope domain.Scope, export domain.UsageExport) {
	want := map[string]domain.UsageTotals{}
	for _, r := range u.records {
		if !u.counts(r, domain.Subject{}, scope, export.Span) {
			continue
		}
		values := []string{""}
		if export.Split != "" {
			values = u.valuesOf(r, export.Split, scope)
		}
		for _, value := range values {
			if export.Split == domain.ByIPAddress && value == "" {
				continue
			}
			key := domain.UsageKey{Start: export.By.StartOf(r.StartedAt.Truncate(time.Hour)), PhysicalID: r.PhysicalID, Value: value}.String()
			total := want[key]
			total.Volume = plus(total.Volume, volumeOf(r))
			if export.Split == "" || export.Split.CountsSessions() {
				total.Sessions++
			}
			want[key] = total
		}
	}
	for key, total := range want {
		if total == (domain.UsageTotals{}) {
			delete(want, key)
		}
	}
	rows := exportedRows(t, exports, scope, export)
	for _, row := range rows {
		if key := row.Key().String(); want[key] != row.UsageTotals {
			t.Errorf("%s has %v, not %v", key, row.UsageTotals, want[key])
		}
	}
	if len(rows) != len(want) || len(rows) == 0 {
		t.Fatalf("%d rows, not %d", len(rows), len(want))
	}
	for _, i := range []int{0, 1, len(rows) / 3, len(rows) / 2, len(rows) - 2, len(rows) - 1} {
		export.After = rows[i].Key()
		rest := exportedRows(t, exports, scope, export)
		same := func(a, b domain.UsageRow) bool { return a.Key() == b.Key() && a.UsageTotals == b.UsageTotals }
		if !slices.EqualFunc(rest, rows[i+1:], same) {
			t.Fatalf("after row %d of %d there are %d", i, len(rows), len(rest))
		}
	}
}

// Usage of a group is counted by the group of its time, a filter by the subscribers now.
func TestExportedUsageIsOfTheGroupAndTheFilter(t *testing.T) {
	t.Parallel()
	u := newUsageTruth(t)
	exports := subscriber.NewUsageExports(u.Pool)
	span, err := domain.NewRange(fleettest.UsageNow.AddDate(0, 0, -60), fleettest.UsageNow)
	fatal.If(t, err)
	export := domain.UsageExport{Span: span, By: domain.Interval{Unit: domain.Monthly, Zone: time.UTC}, Group: 1}
	var want, got int64
	for _, r := range u.records {
		if u.groupAt(r) == 1 && r.PhysicalID == "s1" && !r.StartedAt.Before(export.Span.Start) && r.StartedAt.Before(export.Span.End) {
			want += volumeOf(r).Total()
		}
	}
	filter, err := query.ParseFilter("physicalId eq s1", domain.SubscriberFields)
	fatal.If(t, err)
	export.Subscribers.Filter = filter
	for _, row := range exportedRows(t, exports, u.Scope, export) {
		got += row.Total()
	}
	if got != want || want == 0 {
		t.Errorf("%d bytes, not %d", got, want)
	}
	restricted := u.Scope
	restricted.Groups = []int64{2}
	if rows := exportedRows(t, exports, restricted, export); len(rows) > 0 {
		t.Errorf("a user of another group sees %v", rows)
	}
}

// What reads a snapshot sees no usage that is booked meanwhile, and an error of the reader ends
// the query.
func TestExportedUsageIsOfOneMoment(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := newUsageFleetOn(t, pool, "acme", 300)
	var records []domain.UsageRecord
	for i := range 300 {
		records = append(records, domain.UsageRecord{
			RecordID: fmt.Sprint(i), Source: "pgw", PhysicalID: fmt.Sprintf("s%d", i), SessionID: fmt.Sprint(i), StartedAt: fleettest.UsageNow.Add(-time.Hour), EndedAt: fleettest.UsageNow.Add(-time.Hour),
			MobileTerminated: 1, Protocol: "TCP",
		})
	}
	f.Record(records...)
	snapshot, err := pg.OpenSnapshot(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = snapshot.Close() })
	exports := subscriber.NewUsageExports(snapshot)
	export := domain.UsageExport{Span: domain.Range{Start: fleettest.UsageNow.AddDate(0, 0, -1), End: fleettest.UsageNow.Add(time.Hour)}, By: domain.Interval{Unit: domain.Daily, Zone: time.UTC}}
	if rows := exportedRows(t, exports, f.Scope, export); len(rows) != 300 {
		t.Fatal(len(rows))
	}
	records[0].RecordID, records[0].MobileTerminated = "late", 1000
	f.Record(records[0])
	for _, row := range exportedRows(t, exports, f.Scope, export) {
		if row.Total() != 1 {
			t.Errorf("%s has %d bytes", row.PhysicalID, row.Total())
		}
	}
	enough := errors.New("enough")
	if err := exports.Rows(t.Context(), f.Scope, export, func(domain.UsageRow) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}
