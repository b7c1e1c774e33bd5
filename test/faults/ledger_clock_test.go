//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/internal/fatal"
)

const day = 24 * time.Hour

// ledgerJumps are where both clocks are set to while the ledger is looked after.
var ledgerJumps = []time.Duration{
	14 * 31 * day, time.Hour, -time.Hour, 40 * day, -40 * day, -14 * 31 * day, 3 * 366 * day, -3 * 366 * day,
}

const (
	// usedMonths have usage, of which the ledger keeps the last keptMonths and
	// this one.
	usedMonths, keptMonths = 15, 13
	// upkeeps are how often the ledger is looked after under each clock.
	upkeeps = 8
)

// eager makes a simgraph look after its ledger many times a second, with
// intervals of a second: what it would do within days it does at once.
const eager = "FAULTS_INTERVALS=Quiet=1s Notice=1s Pace=1s retainEvery=200ms"

// TestTheLedgerOutlivesClocksThatJump runs both clocks forward and back by hours,
// months and years. The months that the retention does not cover are dropped
// meanwhile, and nothing else is.
func TestTheLedgerOutlivesClocksThatJump(t *testing.T) {
	d, databaseClock := newJumpingDatabase(t)
	clock := filepath.Join(t.TempDir(), "clock")
	set(t, clock, 0)
	l := launch{
		program: jumpingProgram(t), databaseURL: d.url(), dataDir: t.TempDir(),
		environment: []string{"FAULTS_CLOCK=" + clock, eager}, extra: []string{"--drop-delay", "2s"},
	}
	pool := open(t, d.url())
	file := filepath.Join(t.TempDir(), "usage.csv")
	fatal.If(t, os.WriteFile(file, usageOfMonths(), 0o600))
	run(t, append([]string{"ledger", "retention", fmt.Sprint(usedMonths)}, l.database()...)...)
	run(t, append([]string{"import", file}, l.database()...)...)
	totals := totalsOf(t, pool)
	run(t, append([]string{"ledger", "retention", fmt.Sprint(keptMonths), "--yes"}, l.database()...)...)
	for _, jump := range ledgerJumps {
		set(t, clock, jump)
		setFake(t, databaseClock, jump)
		lookAfter(t, l)
		if months := monthsWithUsage(t, pool); len(months) < keptMonths+1 {
			t.Fatalf("with clocks that are wrong by %v, the ledger has %v", jump, months)
		}
	}
	set(t, clock, 0)
	setFake(t, databaseClock, 0)
	s := serve(t, l)
	eventually(t, "the months that the retention does not cover are dropped", func() bool {
		return len(monthsOf(t, pool, `SELECT month FROM usage_ledger_months WHERE dropped_at IS NOT NULL`)) == usedMonths-keptMonths
	})
	s.terminate()
	if months := monthsWithUsage(t, pool); len(months) != keptMonths+1 {
		t.Errorf("the ledger has %v", months)
	}
	if announced := announcedMonths(t, pool); announced != monthAgo(usedMonths).Format("2006-01")+" "+monthAgo(usedMonths-1).Format("2006-01") {
		t.Errorf("announced were %s", announced)
	}
	again := run(t, append([]string{"import", kept(t, file)}, l.database()...)...)
	if !strings.Contains(again, fmt.Sprintf("%d            0       0", (keptMonths+1)*fleet)) {
		t.Errorf("the same records again: %s", again)
	}
	if report := run(t, append([]string{"rebuild"}, l.database()...)...); report != "acme: all totals agree with the ledger\n" {
		t.Errorf("rebuild: %s", report)
	}
	if now := totalsOf(t, pool); now != totals {
		t.Errorf("the totals were %s and are %s", totals, now)
	}
}

// lookAfter serves until the ledger was looked after some times.
func lookAfter(t *testing.T, l launch) {
	t.Helper()
	s := serve(t, l)
	eventually(t, "the ledger is looked after", func() bool { return s.upkeeps() >= upkeeps })
	s.terminate()
	if log := s.stderr.String(); strings.Contains(log, "a worker failed") {
		t.Errorf("the log: %s", log)
	}
}

func (s *serving) upkeeps() int {
	s.t.Helper()
	var n int
	for line := range strings.Lines(s.metrics()) {
		_, _ = fmt.Sscanf(line, "simgraph_ledger_upkeeps_total %d", &n)
	}
	return n
}

// usageOfMonths is a record of each subscriber in each month, as CSV.
func usageOfMonths() []byte {
	text := "company,source,recordId,physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol\n"
	for month := range usedMonths + 1 {
		for i := range fleet {
			at := monthAgo(month).Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
			text += fmt.Sprintf("acme,old,%s-%d,%s,%s,%s,%d,1,TCP\n", at[:7], i, physicalID(i), at, at, 1000+i)
		}
	}
	return []byte(text)
}

// monthAgo is the beginning of a month.
func monthAgo(n int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
}

// kept is the part of a file that is in the ledger at last.
func kept(t *testing.T, file string) string {
	t.Helper()
	return newest(t, file, keptMonths+1)
}

// newest is the part of a file that has its newest months.
func newest(t *testing.T, file string, months int) string {
	t.Helper()
	text, err := os.ReadFile(file)
	fatal.If(t, err)
	lines := slices.Collect(strings.Lines(string(text)))
	part := filepath.Join(t.TempDir(), "kept.csv")
	fatal.If(t, os.WriteFile(part, []byte(strings.Join(lines[:1+months*fleet], "")), 0o600))
	return part
}

func monthsWithUsage(t *testing.T, pool *sqlx.DB) []time.Time {
	t.Helper()
	return monthsOf(t, pool, `SELECT DISTINCT date_trunc('month', started_at, 'UTC') FROM usage_records ORDER BY 1`)
}

func monthsOf(t *testing.T, pool *sqlx.DB, query string) (months []time.Time) {
	t.Helper()
	fatal.If(t, pool.SelectContext(t.Context(), &months, query))
	return months
}

// announcedMonths are those that were ever announced to be detached.
func announcedMonths(t *testing.T, pool *sqlx.DB) (months string) {
	t.Helper()
	const query = `SELECT string_agg(DISTINCT subject_id, ' ') FROM audit_log WHERE action = 'usage.announce'`
	fatal.If(t, pool.GetContext(t.Context(), &months, query))
	return months
}

// totalsOf adds up what was used, by each of the totals.
func totalsOf(t *testing.T, pool *sqlx.DB) (text string) {
	t.Helper()
	const query = `
SELECT concat_ws(' ', (SELECT sum(mobile_originated) FROM company_hours), (SELECT sum(mobile_originated) FROM group_hours),
  (SELECT sum(mobile_originated) FROM subscriber_days), (SELECT sum(mobile_originated) FROM subscriber_periods),
  (SELECT sum(mobile_originated) FROM group_periods))`
	fatal.If(t, pool.GetContext(t.Context(), &text, query))
	return text
}
