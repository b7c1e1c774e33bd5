package volume_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/internal/fatal"
)

// BenchmarkAlerts measures what 10,000 alerts cost a batch of 10,000 records,
// each of another subscriber, of which 25 cross a threshold.
func BenchmarkAlerts(b *testing.B) {
	const batch = 10_000
	f := fleettest.NewFleet(b, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.AddSubscribers(1001, 1000+batch, fleettest.Vans)
	addAlerts(f, `'sim', key, NULL`, `5000 + key % 100 * 10000`)
	addAlerts(f, `'company', NULL, NULL`, `key * 1000000000`)
	addAlerts(f, `'grouppr', NULL, 12`, `key * 1000000000000`)
	addAlerts(f, `'groupfptp', NULL, 12`, `key * 1000000000`)
	start := f.Company.Billing().PeriodAt(f.Now).Start
	round := int64(0)
	cpu := cpuTime()
	for b.Loop() {
		changes := make([]usage.TotalChange, batch)
		for i := range changes {
			before := round * 10_000
			changes[i] = usage.TotalChange{ID: int64(1001 + i), PeriodStart: start, Before: before, After: before + 10_000}
		}
		tx := f.Pool.MustBegin()
		f.Book(tx, changes, []usage.TotalChange{{ID: fleettest.Vans, PeriodStart: start, Before: round * 100_000_000, After: (round + 1) * 100_000_000}})
		fatal.If(b, tx.Commit())
		round++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/record")
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N*batch), "client-cpu-ns/record")
}

// addAlerts makes 2,500 alerts; target and lower threshold are SQL in terms of
// the key, 1001 to 3500.
func addAlerts(f *fleettest.Fleet, target, threshold string) {
	f.Pool.MustExec(fmt.Sprintf(`
WITH wanted AS (
  SELECT nextval(pg_get_serial_sequence('alerts', 'alert_id')) AS alert_id, key FROM generate_series(1001, 3500) AS key
), made AS (
  INSERT INTO alerts (company_id, alert_id, rule_type, subscriber_key, group_id, date_created)
  SELECT 1, alert_id, %s, '2026-01-01Z' FROM wanted
  RETURNING alert_id, rule_type, target_id
)
INSERT INTO alert_thresholds
SELECT 1, alert_id, boundary, rule_type, target_id, lower + above, 1
FROM made JOIN (SELECT alert_id, %s::bigint AS lower FROM wanted) AS w USING (alert_id)
CROSS JOIN (VALUES ('lower', 0), ('upper', 1000000000000)) AS t(boundary, above)`, target, threshold))
}

// cpuTime is the processor time of this process.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
