package resolvers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAListHasAtMostAHundredItems(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for limit, want := range map[any]int{nil: 25, 0: 25, 1: 1, 100: 100, 101: 100, 400: 100} {
		a := s.mustAsk(t, `query ($limit: Int) {subscriberList(limit: $limit) {items {physicalId} totalCount}}`, "limit", limit)
		if n := len(a.at("subscriberList", "items").([]any)); n != want || a.at("subscriberList", "totalCount").(float64) <= 100 {
			t.Errorf("a limit of %v gives %d of %v", limit, n, a.at("subscriberList", "totalCount"))
		}
	}
}

func TestAPageHasZeroToAHundredObjects(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, name := range []string{"first", "last"} {
		for n, fits := range map[int]bool{-1: false, 0: true, 100: true, 101: false} {
			a := s.ask(t, fmt.Sprintf(`{subscribers(%s: %d) {nodes {physicalId}}}`, name, n))
			if got := len(a.Errors) == 0; got != fits {
				t.Errorf("%s %d: %v", name, n, a.Errors)
			}
			if want := fmt.Sprintf("%s must be 0 to 100, not %d", name, n); !fits && a.Errors[0].Message != want {
				t.Errorf("%s, not %s", a.Errors[0].Message, want)
			}
		}
	}
}

// A source that is seven days behind the newest still counts; one that is
// further behind is silent.
func TestUsageIsCompleteUntilTheSlowestSourceThatReports(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	newest := now.Add(-time.Minute)
	for _, c := range []struct {
		behind time.Duration
		counts bool
	}{{8 * time.Hour, true}, {7 * 24 * time.Hour, true}, {7*24*time.Hour + time.Second, false}} {
		slow := newest.Add(-c.behind)
		s.pool.MustExec(`DELETE FROM usage_sources`)
		s.pool.MustExec(`INSERT INTO usage_sources (company_id, source, complete_until) VALUES ($1, 'fast', $2), ($1, 'slow', $3)`,
			s.caller.Scope.Company, newest, slow)
		want := newest
		if c.counts {
			want = slow
		}
		if got := s.mustAsk(t, `{company {usage {dataCompleteUntil}}}`).at("company", "usage", "dataCompleteUntil"); got != want.Format(time.RFC3339) {
			t.Errorf("a source that is %v behind: complete until %v, want %v", c.behind, got, want)
		}
	}
}

// A direction without bytes in an hour, and an hour in which no session began,
// have no member in their maps.
func TestHoursWithNothingAreLeftOutOfTheMaps(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	record := func(id, hour string, originated, terminated int, session string) string {
		return fmt.Sprintf(`{source: "test", recordId: "%s", physicalId: "%s", startedAt: "2026-11-10T%s:00:00Z", endedAt: "2026-11-10T%s:01:00Z",
  mobileOriginated: %d, mobileTerminated: %d, protocol: "TCP"%s}`, id, s.subscriberIDs(t, 1)[0], hour, hour, originated, terminated, session)
	}
	s.mustAsk(t, `mutation {recordUsage(input: {records: [`+strings.Join([]string{
		record("a", "01", 5, 0, ""), record("b", "02", 0, 7, `, sessionId: "x", sequence: 0`), record("c", "03", 1, 1, `, sessionId: "x", sequence: 1`),
		record("d", "04", 0, 0, ""),
	}, ",")+`]}) {results {status}}}`)
	a := s.mustAsk(t, `{company {usage(start: "2026-11-10T00:00:00Z", end: "2026-11-11T00:00:00Z") {
  dataUsage {mobileOriginated mobileTerminated} sessionCount {sessions} dataUsageByNetworkProtocol {usage}}}}`)
	hour := func(h string) string { return "2026-11-10T" + h + ":00:00+00:00" }
	for what, c := range map[string]struct{ got, want any }{
		"originated": {a.at("company", "usage", "dataUsage", "mobileOriginated"), map[string]any{hour("01"): "5", hour("03"): "1"}},
		"terminated": {a.at("company", "usage", "dataUsage", "mobileTerminated"), map[string]any{hour("02"): "7", hour("03"): "1"}},
		"sessions":   {a.at("company", "usage", "sessionCount", "sessions"), map[string]any{hour("02"): "1"}},
		"protocols": {a.at("company", "usage", "dataUsageByNetworkProtocol", "usage"),
			map[string]any{"TCP": map[string]any{hour("01"): "5", hour("02"): "7", hour("03"): "2"}}},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", what, c.got, c.want)
		}
	}
}
