package feed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// newFedFeed has a network element with all results, another source and usage that waits.
func newFedFeed(t *testing.T) (*feedFixture, *feed.State) {
	f := newFeed(t, 2)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	for _, a := range []domain.Accounting{
		{NAS: "nas", At: f.now, Restarted: true}, f.of("1", 10, 7), f.of("1", 10, 7), f.of("2", 10, 7), f.of("2", 20, 9), f.of("3", 10, 1),
		{NAS: "nas", At: f.now, Unusable: "no reason"}, {NAS: "other", At: f.now, Unusable: "no session"}, {NAS: "other", At: f.now, Unusable: "no session"},
	} {
		f.account(a)
	}
	f.Record(plainUsage("s0", "plain"))
	return f, feed.NewState(f.Pool)
}

func plainUsage(physicalID, source string) domain.UsageRecord {
	return domain.UsageRecord{
		Source: source, PhysicalID: physicalID, StartedAt: fleettest.UsageNow.Add(-time.Hour), EndedAt: fleettest.UsageNow, MobileOriginated: 1, Protocol: "TCP",
	}
}

func elementsText(t *testing.T, s *feed.State, scope domain.Scope, page domain.Page) (string, domain.Slice[*domain.FeedElement]) {
	t.Helper()
	slice := fleettest.Must[domain.Slice[*domain.FeedElement]](t)(s.Elements(t.Context(), scope, domain.Listing{Page: page}))
	var b strings.Builder
	for _, e := range slice.Items {
		fmt.Fprintf(&b, "%s/%s %t", e.Source, e.NAS, e.CompleteUntil != nil)
		for _, p := range e.Packets {
			fmt.Fprintf(&b, " %s=%d", p.Result, p.Packets)
		}
		b.WriteString("\n")
	}
	return b.String(), slice
}

func TestSourcesShowTheirNetworkElementsAndPackets(t *testing.T) {
	t.Parallel()
	f, state := newFedFeed(t)
	const before = "pgw/ true\npgw/nas true\nplain/ true\n" // those with watermarks
	if got, _ := elementsText(t, state, f.Scope, domain.Page{Limit: 10}); got != before {
		t.Errorf("before the counts are stored:\n%s", got)
	}
	for range 2 {
		fatal.If(t, f.feed.Flush(t.Context()))
	}
	const want = "pgw/ true\npgw/nas true booked=1 nothing_new=1 quarantined=3 restarted=1 unusable=1\npgw/other false unusable=2\nplain/ true\n"
	got, slice := elementsText(t, state, f.Scope, domain.Page{Limit: 10})
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if at := slice.Items[1].CompleteUntil; at == nil || !at.Equal(fleettest.UsageNow.Add(-100*time.Minute)) {
		t.Errorf("its packets, which come late, speak of %v", at)
	}
	if last := slice.Items[1].LastPacketAt(); last == nil || !last.Equal(f.now) || slice.Items[0].LastPacketAt() != nil {
		t.Errorf("the last packet came at %v", last)
	}
	f.account(f.of("3", 20, 5))
	fatal.If(t, f.feed.Flush(t.Context()))
	if got, _ := elementsText(t, state, f.Scope, domain.Page{Limit: 1, Cursor: slice.Cursor(0)}); !strings.Contains(got, "quarantined=4") {
		t.Errorf("the second page after another packet: %s", got)
	}
	if n := fleettest.Must[int](t)(state.CountElements(t.Context(), f.Scope, domain.Listing{})); n != 4 {
		t.Errorf("%d elements", n)
	}
	keys := []domain.FeedKey{{Source: "pgw", NAS: "nas"}, {Source: "pgw"}}
	f.account(f.of("3", 30, 2)) // a counter without gigawords has passed its end
	if of := fleettest.Must[map[domain.FeedKey]int](t)(state.IncompleteSessions(t.Context(), f.Scope, keys)); len(of) != 1 || of[keys[0]] != 1 {
		t.Errorf("incomplete are %v", of)
	}
	if open := fleettest.Must[map[domain.FeedKey]int](t)(state.OpenSessions(t.Context(), f.Scope, keys)); len(open) != 1 || open[keys[0]] != 3 {
		t.Errorf("open are %v", open)
	}
	group := domain.Scope{Company: f.Scope.Company, Groups: []int64{1}}
	if open := fleettest.Must[map[domain.FeedKey]int](t)(state.OpenSessions(t.Context(), group, keys)); open[keys[0]] != 1 {
		t.Errorf("the group sees %v open", open)
	}
	if got, _ := elementsText(t, state, domain.Whole(f.Scope.Company+1), domain.Page{Limit: 10}); got != "" {
		t.Errorf("another company sees %s", got)
	}
}

// What the database does not take is counted on, and what is too much for a company
// is counted for its source.
func TestCountsOfPacketsAreBoundedAndNotLost(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	for n := range 5010 {
		f.account(domain.Accounting{NAS: fmt.Sprintf("nas%04d", n), At: f.now, Unusable: "no reason"})
		if n%1000 == 4 {
			fatal.If(t, f.feed.Flush(t.Context()))
		}
	}
	f.Pool.MustExec(`ALTER TABLE feed_packets RENAME TO away`)
	if err := f.feed.Flush(t.Context()); err == nil {
		t.Error("counts are stored nowhere")
	}
	f.Pool.MustExec(`ALTER TABLE away RENAME TO feed_packets`)
	for range 2 {
		fatal.If(t, f.feed.Flush(t.Context()))
		f.account(domain.Accounting{NAS: "late", At: f.now, Unusable: "no reason"})
	}
	fatal.If(t, f.feed.Flush(t.Context()))
	if n := f.Int(`SELECT sum(packets)::bigint FROM feed_packets WHERE company_id = $1`); n != 5012 {
		t.Errorf("%d packets are counted", n)
	}
	if n := f.Int(`SELECT packets FROM feed_packets WHERE company_id = $1 AND nas = ''`); n < 2 {
		t.Errorf("%d packets are counted for the source", n)
	}
	if n := f.Int(`SELECT count(*) FROM feed_rejects WHERE company_id = $1`); n != 1001 {
		t.Errorf("%d reasons", n)
	}
}

func TestRejectsAndWaitingUsageAreListedForTheWholeCompany(t *testing.T) {
	t.Parallel()
	f, state := newFedFeed(t)
	page := domain.Page{Limit: 1}
	var reasons []string
	for range 2 {
		slice := fleettest.Must[domain.Slice[*domain.FeedReject]](t)(state.Rejects(t.Context(), f.Scope, domain.Listing{Page: page}))
		reasons = append(reasons, fmt.Sprintf("%s %d", slice.Items[0].Reason, slice.Items[0].Requests))
		page.Cursor = slice.Cursor(0)
	}
	if got := strings.Join(reasons, ", "); got != "no session 2, no reason 1" {
		t.Errorf("the rejects are %s", got)
	}
	f.Record(plainUsage("nobody", "plain"), plainUsage("nobody", "pgw"))
	page = domain.Page{Limit: 3}
	var waiting []string
	for more := true; more; {
		slice := fleettest.Must[domain.Slice[*domain.WaitingUsage]](t)(state.Waiting(t.Context(), f.Scope, domain.Listing{Page: page}))
		for _, w := range slice.Items {
			waiting = append(waiting, fmt.Sprintf("%s%s%s %s %d %d", w.PhysicalID, w.IMSI, w.MSISDN, w.Source, w.Records, w.Bytes))
		}
		if more = slice.HasNext; more {
			page.Cursor = slice.Cursor(2)
		}
	}
	if got, want := strings.Join(waiting, ", "), "2 pgw 2 9, 3 pgw 1 1, nobody pgw 1 1, nobody plain 1 1"; got != want {
		t.Errorf("what waits is %s, not %s", got, want)
	}
	rejects, waits := fleettest.Must[int](t)(state.CountRejects(t.Context(), f.Scope, domain.Listing{})), fleettest.Must[int](t)(state.CountWaiting(t.Context(), f.Scope, domain.Listing{}))
	if rejects != 2 || waits != 4 {
		t.Errorf("%d rejects and %d that wait are counted", rejects, waits)
	}
	group := domain.Scope{Company: f.Scope.Company, Groups: []int64{1}}
	for name, read := range map[string]func() error{
		"rejects":   func() error { _, err := state.Rejects(t.Context(), group, domain.Listing{Page: page}); return err },
		"waiting":   func() error { _, err := state.Waiting(t.Context(), group, domain.Listing{Page: page}); return err },
		"rejects n": func() error { _, err := state.CountRejects(t.Context(), group, domain.Listing{}); return err },
		"waiting n": func() error { _, err := state.CountWaiting(t.Context(), group, domain.Listing{}); return err },
	} {
		if fault, is := domain.AsError(read()); !is || fault.Kind != domain.KindForbidden {
			t.Errorf("%s for a user of a group: %v", name, fault)
		}
	}
}
