//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// ledgerOfOldMonths is a database that keeps more months than the version before does
// without a flag, and has usage of all of them.
func ledgerOfOldMonths(t *testing.T) (l launch, file string) {
	t.Helper()
	l = launch{databaseURL: newDatabase(t).url(), dataDir: t.TempDir()}
	file = filepath.Join(t.TempDir(), "usage.csv")
	fatal.If(t, os.WriteFile(file, usageOfMonths(), 0o600))
	run(t, append([]string{"ledger", "retention", "24"}, l.database()...)...)
	run(t, append([]string{"import", file}, l.database()...)...)
	return l, file
}

// sameLedger demands that the records of a file are duplicates and the totals as before.
func sameLedger(t *testing.T, l launch, file, totals string) {
	t.Helper()
	again := run(t, append([]string{"import", file}, l.database()...)...)
	if !strings.Contains(again, fmt.Sprintf("%d            0       0", (usedMonths+1)*fleet)) {
		t.Errorf("the same records again: %s", again)
	}
	keepsTotals(t, l, totals)
}

// keepsTotals demands that rebuild leaves the totals as they were.
func keepsTotals(t *testing.T, l launch, totals string) {
	t.Helper()
	if report := run(t, append([]string{"rebuild"}, l.database()...)...); report != "acme: all totals agree with the ledger\n" {
		t.Errorf("rebuild: %s", report)
	}
	if now := totalsOf(t, open(t, l.databaseURL)); now != totals {
		t.Errorf("the totals were %s and are %s", totals, now)
	}
}

// The version before drops months by its own flags as soon as it starts: its DROP fails,
// however often it is started.
func TestTheVersionBeforeDropsNoMonth(t *testing.T) {
	t.Parallel()
	l, file := ledgerOfOldMonths(t)
	pool := open(t, l.databaseURL)
	totals, months := totalsOf(t, pool), len(monthsWithUsage(t, pool))
	old := l
	old.program = previousProgram(t)
	for _, retention := range []string{"13", "3"} {
		old.extra = []string{"--retention", retention}
		s := serve(t, old)
		eventually(t, "its DROP fails", func() bool { return strings.Contains(s.stderr.String(), "depend") })
		s.terminate()
		if now := len(monthsWithUsage(t, pool)); now != months {
			t.Fatalf("of %d months %d are left", months, now)
		}
		s = serve(t, l)
		s.terminate()
		sameLedger(t, l, file, totals)
	}
}

// Months that a hand takes away are noticed as the server starts, and neither a late
// record nor rebuild comes at the totals before.
func TestMonthsThatWereTakenByHandAreNoticed(t *testing.T) {
	t.Parallel()
	l, file := ledgerOfOldMonths(t)
	pool := open(t, l.databaseURL)
	totals := totalsOf(t, pool)
	for n := usedMonths - 5; n <= usedMonths; n++ {
		name := monthAgo(n).Format("usage_records_2006_01")
		pool.MustExec("DROP VIEW " + name + "_fence")
		pool.MustExec("DROP TABLE " + name)
	}
	pool.MustExec(`DELETE FROM usage_ids i WHERE NOT EXISTS (SELECT FROM usage_records r WHERE r.company_id = i.company_id AND r.identity = i.identity)`)
	keepsTotals(t, l, totals)
	s := serve(t, l)
	if log := s.stderr.String(); strings.Count(log, "is missing that was not detached by simgraph") != 6 {
		t.Errorf("the log: %s", log)
	}
	s.terminate()
	again := run(t, append([]string{"import", newest(t, file, usedMonths-5)}, l.database()...)...)
	if !strings.Contains(again, fmt.Sprintf("%d            0       0", (usedMonths-5)*fleet)) {
		t.Errorf("the same records again: %s", again)
	}
	keepsTotals(t, l, totals)
}
