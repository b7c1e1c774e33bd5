package usage_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// Network elements that make up names get no more than so many watermarks. What has been
// silent for long makes room, where there are many.
func TestWatermarksAreBounded(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	now, most, sequence := f.process, int64(5000), 0
	report := func(nas string) {
		sequence++
		r := fleettest.ReadingOf("s1", fmt.Sprint("x", sequence), now.Add(-time.Minute), 1, 10, 0)
		r.Report.NAS = nas
		f.Record(r)
	}
	has := func(nas string) bool {
		return f.Int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1 AND nas = '`+nas+`'`) == 1
	}
	fill := func(from, until int64, at time.Time) {
		f.Pool.MustExec(`INSERT INTO feed_watermarks (company_id, source, nas, complete_until, reported_at)
SELECT $1, 'gone', 'g' || n, $4, $4 FROM generate_series($2::bigint, $3) AS n`, f.Scope.Company, from, until, at)
	}
	before := now.Add(-condition.SourceSilence - condition.Abandoned)
	prune := func() {
		fatal.If(t, f.Usage.PruneWatermarks(t.Context(), before))
	}
	report("one")
	here := f.Int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`)
	fill(1, 2, before.Add(-time.Hour))
	prune()
	if n := f.Int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`); n != here+2 {
		t.Errorf("%d are left of few", n)
	}
	fill(3, most-here-1, before.Add(-time.Hour))
	fill(most-here, most-here, before.Add(time.Hour))
	f.Pool.MustExec(`UPDATE feed_watermarks SET complete_until = 'epoch' WHERE nas = 'one'`)
	report("one")
	report("two")
	if f.Int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1 AND nas = 'one' AND complete_until > 'epoch'`) != 1 {
		t.Error("a watermark does not move where there are too many")
	}
	if !has("one") || has("two") {
		t.Errorf("one has a watermark: %t, one too many: %t", has("one"), has("two"))
	}
	prune()
	report("two")
	if n := f.Int(`SELECT count(*) FROM feed_watermarks WHERE company_id = $1`); n != here+2 || !has("two") {
		t.Errorf("%d are left when room was made", n)
	}
}
