package db_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/domain/condition"
)

// Network elements that make up names get no more than so many watermarks. What has been
// silent for long makes room, where there are many.
func TestWatermarksAreBounded(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	now, most, sequence := f.process, int64(5000), 0
	report := func(nas string) {
		sequence++
		r := readingOf("s1", fmt.Sprint("x", sequence), now.Add(-time.Minute), 1, 10, 0)
		r.Report.NAS = nas
		f.record(r)
	}
	has := func(nas string) bool {
		return f.int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1 AND nas = '`+nas+`'`) == 1
	}
	fill := func(from, until int64, at time.Time) {
		f.pool.MustExec(`INSERT INTO feed_watermarks (company_id, source, nas, complete_until, reported_at)
SELECT $1, 'gone', 'g' || n, $4, $4 FROM generate_series($2::bigint, $3) AS n`, f.scope.Company, from, until, at)
	}
	before := now.Add(-condition.SourceSilence - condition.Abandoned)
	prune := func() {
		if err := f.usage.PruneWatermarks(t.Context(), before); err != nil {
			t.Fatal(err)
		}
	}
	report("one")
	here := f.int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`)
	fill(1, 2, before.Add(-time.Hour))
	prune()
	if n := f.int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`); n != here+2 {
		t.Errorf("%d are left of few", n)
	}
	fill(3, most-here-1, before.Add(-time.Hour))
	fill(most-here, most-here, before.Add(time.Hour))
	f.pool.MustExec(`UPDATE feed_watermarks SET complete_until = 'epoch' WHERE nas = 'one'`)
	report("one")
	report("two")
	if f.int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1 AND nas = 'one' AND complete_until > 'epoch'`) != 1 {
		t.Error("a watermark does not move where there are too many")
	}
	if !has("one") || has("two") {
		t.Errorf("one has a watermark: %t, one too many: %t", has("one"), has("two"))
	}
	prune()
	report("two")
	if n := f.int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`); n != here+2 || !has("two") {
		t.Errorf("%d are left when room was made", n)
	}
}
