package usage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// takenMonths are ways in which something else than simgraph takes months away, with the
// first month that is left whole.
var takenMonths = map[string]struct {
	taken []time.Month
	first string
}{
	"the oldest":                  {[]time.Month{time.March, time.April}, "2026-05"},
	"one in the middle":           {[]time.Month{time.June}, "2026-07"},
	"two holes":                   {[]time.Month{time.April, time.August}, "2026-09"},
	"all but the present":         {[]time.Month{time.March, time.April, time.May, time.June, time.July, time.August, time.September, time.October}, "2026-11"},
	"the newest that has records": {[]time.Month{time.November}, "2026-12"},
}

// take drops months as by hand.
func (f *ledgerFleet) take(months []time.Month) {
	f.Helper()
	for _, month := range months {
		name := fmt.Sprintf("usage_records_2026_%02d", month)
		f.Pool.MustExec("DROP VIEW " + name + "_fence")
		f.Pool.MustExec("DROP TABLE " + name)
	}
}

func (f *ledgerFleet) inspect() usage.Inspection {
	f.Helper()
	found, err := f.ledger.Inspect(f.Context(), operator)
	fatal.If(f, err)
	return found
}

func TestTheFirstMonthIsBehindEachMonthThatWasTakenAway(t *testing.T) {
	t.Parallel()
	for name, c := range takenMonths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLedgerFleet(t)
			f.take(c.taken)
			totals := f.totals()
			var want []time.Time
			for _, month := range c.taken {
				want = append(want, time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC))
			}
			if found := f.inspect(); !slices.Equal(found.Lost, want) {
				t.Errorf("lost are %v", found.Lost)
			}
			if found := f.inspect(); len(found.Lost) > 0 {
				t.Errorf("lost again are %v", found.Lost)
			}
			status, err := f.ledger.Status(t.Context())
			if err != nil || status.FirstMonth.Format(domain.MonthLayout) != c.first {
				t.Errorf("the first month is %v %v", status.FirstMonth, err)
			}
			if n := f.Int(`SELECT count(*) FROM audit_log WHERE action = 'usage.lost' AND company_id <> $1`); n != 1 {
				t.Errorf("%d entries in the audit log", n)
			}
			f.MustAgree()
			f.mustHaveTotals(totals)
		})
	}
}

// Before anything has noticed: a late record, rebuild, and another billing day.
func TestAMissingMonthIsNeitherFilledNorDerived(t *testing.T) {
	t.Parallel()
	for name, c := range takenMonths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLedgerFleet(t)
			f.take(c.taken)
			totals := f.totals()
			var noticed []string
			f.Usage = usage.New(f.Pool, nil, usage.Options{
				Now: func() time.Time { return f.process }, MonthLost: func(month time.Time) { noticed = append(noticed, month.Format(domain.MonthLayout)) },
			})
			f.MustAgree()
			f.mustHaveTotals(totals)
			for _, month := range slices.Backward(c.taken) {
				late := fleettest.UsageOf("s1", "late", time.Date(2026, month, 2, 1, 0, 0, 0, time.UTC))
				recorded, err := f.Usage.Record(t.Context(), f.Scope, []domain.UsageRecord{late})
				if err != nil || recorded[0].Status != domain.UsageRejected || !strings.Contains(fmt.Sprint(recorded[0].Err), "where the usage ledger begins") {
					t.Errorf("a late record of %v: %+v %v", month, recorded, err)
				}
			}
			f.MustAgree()
			f.mustHaveTotals(totals)
			if n := f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1 AND record_id = 'late'`); n > 0 {
				t.Errorf("%d late records were booked", n)
			}
			// Those before the newest are behind the first month by then.
			if newest := time.Date(2026, c.taken[len(c.taken)-1], 1, 0, 0, 0, 0, time.UTC).Format(domain.MonthLayout); !slices.Equal(noticed, []string{newest}) {
				t.Errorf("the late records noticed that %v are lost, not %s", noticed, newest)
			}
		})
	}
}

func TestAMonthWithoutUsageIsNoHole(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	old := fleettest.UsageOf("s1", "old", time.Date(2025, time.December, 2, 1, 0, 0, 0, time.UTC))
	older := fleettest.UsageOf("s1", "older", time.Date(2025, time.November, 2, 1, 0, 0, 0, time.UTC))
	for _, record := range []domain.UsageRecord{old, older} {
		f.Record(record)
		if found := f.inspect(); len(found.Lost) > 0 {
			t.Errorf("lost are %v", found.Lost)
		}
	}
	if n := f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1 AND started_at < '2026-01-01'`); n != 2 {
		t.Errorf("%d records of the year before", n)
	}
	f.MustAgree()
}

// Each month that any path creates, restores or leaves is fenced.
func TestDropTableOfAnyMonthFails(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.instance().EnsurePartitions(t.Context()))
	f.Pool.MustExec(`CREATE TABLE usage_records_2025_01 PARTITION OF usage_records FOR VALUES FROM ('2025-01-01 00:00+00') TO ('2025-02-01 00:00+00')`)
	f.inspect()
	f.keep(6, 3)
	if _, err := f.ledger.Restore(t.Context(), operator, time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	var names []string
	fatal.If(t, f.Pool.Select(&names, `SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^usage_records_[0-9]{4}_[0-9]{2}$' ORDER BY 1`))
	if len(names) < 12 {
		t.Errorf("the months are %v", names)
	}
	for _, name := range names {
		if _, err := f.Pool.Exec("DROP TABLE " + name); err == nil || !strings.Contains(err.Error(), "depend") {
			t.Errorf("DROP TABLE %s: %v", name, err)
		}
	}
}

// A version that drops months at once removes the identities first.
func TestIdentitiesOfStoredRecordsArePutBack(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.Pool.MustExec(`DELETE FROM usage_ids i USING usage_records_2026_03 r WHERE i.company_id = r.company_id AND i.identity = r.identity`)
	if found := f.inspect(); found.Registered != 20 {
		t.Errorf("%d were put back", found.Registered)
	}
	totals := f.totals()
	recorded, err := f.Usage.Record(t.Context(), f.Scope, f.months())
	fatal.If(t, err)
	for _, r := range recorded {
		if r.Status != domain.UsageDuplicate {
			t.Fatalf("sent again: %+v", r)
		}
	}
	f.mustHaveTotals(totals)
}
