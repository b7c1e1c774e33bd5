package db_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/db/feed"
	"simgraph/domain"
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
		fatal.If(t, f.usage.PruneWatermarks(t.Context(), before))
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

// A network element lags by the least of its reports of the last hour or two: one report
// that was late is no backlog.
func TestTheLagOfANetworkElementIsTheLeastOfAnHour(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	began := f.now
	for i, step := range []struct {
		after time.Duration
		lag   time.Duration
		want  string
	}{
		{0, 0, "0"}, {10 * time.Minute, 20 * time.Minute, "0"}, {70 * time.Minute, 20 * time.Minute, "0"}, {80 * time.Minute, 15 * time.Minute, "0"},
		{140 * time.Minute, 40 * time.Minute, "900"}, {150 * time.Minute, -time.Minute, "0"},
	} {
		f.now = began.Add(step.after)
		r := f.of("1", 0, 0)
		r.Record.SessionID, r.Record.EndedAt = fmt.Sprint("nas/", i), f.now.Add(-step.lag)
		r.Record.StartedAt = r.Record.EndedAt
		f.account(r)
		fatal.If(t, f.feed.Flush(t.Context()))
		got := "none"
		found, err := feed.NewState(f.pool).Elements(t.Context(), f.scope, domain.Listing{Page: domain.Page{Limit: 10}})
		fatal.If(t, err)
		for _, e := range found.Items {
			if e.NAS == "nas" && e.LagSeconds != nil {
				got = fmt.Sprint(*e.LagSeconds)
			}
			if e.NAS == "" && e.LagSeconds != nil {
				t.Error("the source has a lag of its own")
			}
		}
		if got != step.want {
			t.Errorf("after %v it lags by %s s, not %s", step.after, got, step.want)
		}
	}
}
