package feed_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/db/feed"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Network elements that make up names get no more than so many watermarks. What has been
// silent for long makes room, where there are many.

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
		found, err := feed.NewState(f.Pool).Elements(t.Context(), f.Scope, domain.Listing{Page: domain.Page{Limit: 10}})
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
