package resolvers_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"simgraph/db/feed"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// feedOf returns a store of the feed with one client of the caller's company.
func (s *stack) feedOf(t *testing.T) (*feed.Store, []*domain.RADIUSClient) {
	t.Helper()
	clients := feed.NewClients(s.pool, []byte(strings.Repeat("k", seal.KeySize)))
	client := domain.RADIUSClient{Name: "pgw", Network: netip.MustParsePrefix("10.1.0.0/16"), Secret: []byte("a secret of a test")}
	fatal.If(t, clients.Create(t.Context(), s.caller.Scope, client))
	all, err := clients.All(t.Context())
	fatal.If(t, err)
	return feed.New(s.pool, s.ports.Usage.(*usage.Store), clients), all
}

// without returns the page without a field of its nodes.
func without(page any, field string) any {
	for _, node := range page.(map[string]any)["nodes"].([]any) {
		delete(node.(map[string]any), field)
	}
	return page
}

func TestTheGraphShowsHowSourcesFare(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	store, clients := s.feedOf(t)
	imsi := fmt.Sprint(s.mustAsk(t, `{subscribers(filter: {imsi: {ne: ""}}, first: 1) {nodes {imsi}}}`).at("subscribers", "nodes", 0, "imsi"))
	account := func(ctx context.Context, of string, a domain.Accounting) {
		t.Helper()
		a.NAS, a.At = "pgw1", now
		if of != "" {
			a.Record = domain.UsageRecord{
				SessionID: of, StartedAt: now, EndedAt: now, MobileOriginated: 5, Protocol: "IP", IMSI: of, Report: &domain.SessionReport{NAS: "pgw1"},
			}
		}
		if _, err := store.Account(ctx, clients, a); err != nil {
			t.Fatal(err)
		}
	}
	account(t.Context(), imsi, domain.Accounting{})
	account(t.Context(), "999", domain.Accounting{})
	account(t.Context(), "", domain.Accounting{Unusable: "Acct-Session-Id is missing"})
	fatal.If(t, store.Flush(t.Context()))
	a := s.mustAsk(t, `{company {
  feedElements(last: 100) {totalCount nodes {id source nas openSessions incompleteSessions lastPacketAt packets {result packets}}}
  feedRejects {totalCount nodes {id source nas reason requests}}
  waitingUsage {totalCount nodes {id source physicalId imsi msisdn records bytes}}}}`)
	// None of the three lists is counted: each ends on its page.
	if a.Statements != 6 {
		t.Errorf("%d statements", a.Statements)
	}
	var element map[string]any
	for _, of := range a.at("company", "feedElements", "nodes").([]any) {
		if of := of.(map[string]any); of["nas"] == "pgw1" {
			element = of
		}
	}
	if element["openSessions"] != 2.0 || element["incompleteSessions"] != 0.0 || element["lastPacketAt"] == nil {
		t.Errorf("the element is %v", element)
	}
	ids := []any{element["id"], a.at("company", "feedRejects", "nodes", 0, "id"), a.at("company", "waitingUsage", "nodes", 0, "id")}
	for _, list := range []struct {
		got  any
		want string
	}{
		{element["packets"], "[map[packets:1 result:BOOKED] map[packets:1 result:QUARANTINED] map[packets:1 result:UNUSABLE]]"},
		{without(a.at("company", "feedRejects"), "id"), "map[nodes:[map[nas:pgw1 reason:Acct-Session-Id is missing requests:1 source:pgw]] totalCount:1]"},
		{without(a.at("company", "waitingUsage"), "id"), "map[nodes:[map[bytes:5 imsi:999 msisdn:<nil> physicalId:<nil> records:1 source:pgw]] totalCount:1]"},
	} {
		if got := fmt.Sprint(list.got); got != list.want {
			t.Errorf("got %s, not %s", got, list.want)
		}
	}
	found := s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {id ... on FeedElement {openSessions packets {packets}} ... on FeedReject {requests} ... on WaitingUsage {bytes}}}`, "ids", ids)
	for i, want := range []string{"openSessions:2 packets:[map[packets:1] map[packets:1] map[packets:1]]", "requests:1", "bytes:5"} {
		if got := fmt.Sprint(found.at("nodes", i)); !strings.Contains(got, want) || !strings.Contains(got, fmt.Sprint(ids[i])) {
			t.Errorf("by its id: %s", got)
		}
	}
	group := *s.caller
	group.Scope = domain.Scope{Company: group.Scope.Company, Groups: []int64{999}}
	s.caller = &group
	for field, want := range map[string]string{"feedRejects": "FORBIDDEN", "waitingUsage": "FORBIDDEN", "feedElements": ""} {
		if a := s.ask(t, `{company {`+field+` {totalCount}}}`); a.code() != want {
			t.Errorf("%s for a user of a group: %v", field, a.Errors)
		}
	}
}

// The total of a list is counted by a statement of its own where a page does not hold its end.
func TestEachListOfTheCompanyIsCountedAsItIsListed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	store, clients := s.feedOf(t)
	imsi := fmt.Sprint(s.mustAsk(t, `{subscribers(filter: {imsi: {ne: ""}}, first: 1) {nodes {imsi}}}`).at("subscribers", "nodes", 0, "imsi"))
	for kind, of := range []string{imsi, "999", ""} { // each list has a number of its own
		for n := range []int{1, 7, 6}[kind] {
			a := domain.Accounting{NAS: "pgw1", At: now, Unusable: fmt.Sprintf("the attribute %d is missing", n)}
			if of != "" {
				a.Unusable, a.Record = "", domain.UsageRecord{
					SessionID: fmt.Sprintf("%s-%d", of, n), StartedAt: now, EndedAt: now, MobileOriginated: 5, Protocol: "IP", IMSI: of + strings.Repeat("9", kind*n),
					Report: &domain.SessionReport{NAS: "pgw1"},
				}
			}
			_, err := store.Account(t.Context(), clients, a)
			fatal.If(t, err)
		}
	}
	fatal.If(t, store.Flush(t.Context()))
	dashboard := s.mustAsk(t, `{company {dashboards {nodes {dashboardId}}}}`).at("company", "dashboards", "nodes", 0, "dashboardId")
	for range 5 {
		s.mustAsk(t, fmt.Sprintf(`mutation {createReport(input: {dashboardId: "%v", frequency: DAILY, recipients: ["admin@demo.example"]}) {report {id}}}`, dashboard))
	}
	known := map[int]string{}
	for _, field := range schemaOf().Types["Company"].Fields {
		if !strings.HasSuffix(field.Type.Name(), "Connection") {
			continue
		}
		company := s.mustAsk(t, `{company {whole: `+field.Name+`(first: 100) {nodes {__typename}} none: `+field.Name+`(first: 0) {totalCount}}}`)
		listed, total := len(company.at("company", "whole", "nodes").([]any)), company.at("company", "none", "totalCount")
		if total != float64(listed) || listed == 0 || known[listed] != "" {
			t.Errorf("%s: %d are listed, %v counted; as many as %q", field.Name, listed, total, known[listed])
		}
		known[listed] = field.Name
	}
}
