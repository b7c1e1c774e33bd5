package usage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/query"
)

// newSessions returns five sessions: a to d of the subscribers s0 (no group), s1, s2
// and s1 again, and e of a number that nobody has.
func newSessions(t *testing.T) (*usageFleet, *feed.Sessions) {
	f := newUsageFleet(t, 3)
	began := fleettest.UsageNow.Add(-5 * time.Hour)
	var records []domain.UsageRecord
	for i, of := range []struct {
		subscriber, apn, rat, network string
		ended                         bool
	}{
		{"s0", "iot.example", "EUTRAN", "23415", false}, {"s1", "iot.example", "GERAN", "26201", true},
		{"s2", "", "EUTRAN", "23410", false}, {"s1", "internet", "", "90199", false}, {"", "internet", "EUTRAN", "", true},
	} {
		r := fleettest.ReadingOf(of.subscriber, string(rune('a'+i)), began.Add(time.Duration(i)*time.Minute), 10, int64(100-i), 0)
		r.Report.APN, r.Report.RATType, r.Report.VisitedNetwork = of.apn, of.rat, of.network
		if of.network != "" {
			r.Report.Cell = "TAI " + of.network + " 7"
		}
		if of.ended {
			r.Report.Event, r.Report.Cause = domain.SessionStopped, "User-Request"
		}
		if of.subscriber == "" {
			r.IMSI = "999"
		}
		records = append(records, r)
	}
	f.Record(records...)
	return f, feed.NewSessions(f.Pool)
}

func sessionIDs(sessions []*domain.Session) string {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.SessionID
	}
	return strings.Join(ids, "")
}

func sessionsLike(t *testing.T, filter, order string) domain.Listing {
	t.Helper()
	l := domain.Listing{Page: domain.Page{Limit: 10}}
	if filter != "" {
		l.Filter = fleettest.Must[query.Expr](t)(query.ParseFilter(filter, domain.SessionFields))
	}
	if order != "" {
		l.Order = fleettest.Must[[]query.Order](t)(query.ParseOrder(order, domain.SessionFields))
	}
	return l
}

func TestSessionsOfACompanyAreFilteredAndOrdered(t *testing.T) {
	t.Parallel()
	f, sessions := newSessions(t)
	third := fleettest.UsageNow.Add(-5*time.Hour + 2*time.Minute).UTC()
	between := fmt.Sprintf("beganAt ge %s and beganAt lt %s", third.Format(time.RFC3339), third.Add(2*time.Minute).Format(time.RFC3339))
	for _, test := range []struct{ filter, order, want string }{
		{"", "", "edcba"}, {"isOpen eq true", "", "dca"}, {"isOpen eq false", "", "eb"}, {"endedAt eq null", "beganAt", "acd"},
		{`physicalId eq "s1"`, "", "db"}, {"physicalId eq null", "", "e"}, {`apn eq "internet"`, "", "ed"}, {"apn eq null", "", "c"},
		{`ratType ne "EUTRAN"`, "", "db"}, {`visitedNetwork ge "234" and visitedNetwork lt "235"`, "", "ca"}, {`cause eq "User-Request"`, "", "eb"},
		{between, "beganAt", "cd"}, {"total gt 97", "total DESC", "abc"},
		{"", "apn, beganAt", "cdeab"}, {"", "physicalId DESC, beganAt DESC", "cdbae"}, {`nas eq "pgw1" and source eq "pgw" and sessionId eq "b"`, "", "b"},
		{`cell ge "TAI 234" and cell lt "TAI 235"`, "cell", "ca"}, {"cell eq null", "", "e"},
		{"isTransferring eq true", "visitedNetwork", "cad"}, {"imei eq null", "reportedAt, sessionId", "abcde"},
	} {
		l := sessionsLike(t, test.filter, test.order)
		slice, err := sessions.List(t.Context(), f.Scope, l)
		if got := sessionIDs(slice.Items); err != nil || got != test.want {
			t.Errorf("%q by %q: %s, not %s, %v", test.filter, test.order, got, test.want, err)
		}
		if n, err := sessions.Count(t.Context(), f.Scope, l); err != nil || n != len(test.want) {
			t.Errorf("%q: %d are counted, %v", test.filter, n, err)
		}
	}
}

// Every field orders the list, and pages of it in both directions are the whole.
func TestPagesOfSessionsAreTheWholeListByEachField(t *testing.T) {
	t.Parallel()
	f, sessions := newSessions(t)
	for _, field := range domain.SessionFields.All() {
		for _, direction := range []string{"ASC", "DESC"} {
			l := sessionsLike(t, "", field.Name+" "+direction)
			whole := fleettest.Must[domain.Slice[*domain.Session]](t)(sessions.List(t.Context(), f.Scope, l))
			for _, backward := range []bool{false, true} {
				l.Page = domain.Page{Limit: 2, Backward: backward}
				var pages []string
				for more := true; more; {
					page := fleettest.Must[domain.Slice[*domain.Session]](t)(sessions.List(t.Context(), f.Scope, l))
					pages = append(pages, sessionIDs(page.Items))
					if more = page.HasNext; backward {
						more = page.HasPrevious
					}
					if last := len(page.Items) - 1; backward {
						l.Page.Cursor = page.Cursor(0)
					} else {
						l.Page.Cursor = page.Cursor(last)
					}
				}
				if backward {
					slices.Reverse(pages)
				}
				if got, want := strings.Join(pages, ""), sessionIDs(whole.Items); got != want || len(want) != 5 {
					t.Errorf("%s %s, backward %t: %v, not %s", field.Name, direction, backward, pages, want)
				}
			}
		}
	}
}

// The pages of several subscribers are what List has of each, to the end and back.
func TestPagesOfSubscribersAreTheirPartsOfTheList(t *testing.T) {
	t.Parallel()
	f, sessions := newSessions(t)
	keys := []int64{f.Keys["s0"], f.Keys["s1"], f.Keys["s2"]}
	for i, want := range []string{"a", "db", "c"} {
		for name, c := range map[string]struct{ order, want string }{"newest first": {"", want}, "by total": {"total DESC", reversed(want)}} {
			l := sessionsLike(t, "", c.order)
			l.Page.Limit = 1
			var got string
			for more := true; more; {
				slice := fleettest.Must[map[int64]domain.Slice[*domain.Session]](t)(sessions.OfSubscribers(t.Context(), f.Scope, keys, l))[keys[i]]
				got += sessionIDs(slice.Items)
				if slice.HasPrevious != (l.Page.Cursor != "") || len(slice.Items) != 1 || len(got) > len(want) {
					t.Fatalf("%s: %s, and before it %t", name, got, slice.HasPrevious)
				}
				l.Page.Cursor, more = slice.Cursor(0), slice.HasNext
			}
			if got != c.want {
				t.Errorf("s%d, %s: %s, not %s", i, name, got, c.want)
			}
		}
	}
	open := sessionsLike(t, "isOpen eq true", "")
	counts, err := sessions.CountOfSubscribers(t.Context(), f.Scope, keys, open)
	if got, want := fmt.Sprint(counts), fmt.Sprint(map[int64]int{keys[0]: 1, keys[1]: 1, keys[2]: 1}); err != nil || got != want {
		t.Errorf("open: %s, %v", got, err)
	}
	counts, err = sessions.CountOfSubscribers(t.Context(), domain.Scope{Company: f.Scope.Company, Groups: []int64{1}}, keys, sessionsLike(t, "", ""))
	if got, want := fmt.Sprint(counts), fmt.Sprint(map[int64]int{keys[1]: 2}); err != nil || got != want {
		t.Errorf("the group counts %s, %v", got, err)
	}
	l := sessionsLike(t, "", "")
	l.Page.Cursor = "x"
	var refused *domain.Error
	if _, err := sessions.OfSubscribers(t.Context(), f.Scope, keys, l); !errors.As(err, &refused) || refused.Kind != domain.KindInvalid {
		t.Errorf("a forged cursor: %v", err)
	}
}

func reversed(text string) string {
	letters := []byte(text)
	slices.Reverse(letters)
	return string(letters)
}

// A user of a group sees the sessions of its subscribers, by whichever way.
func TestSessionsOfOtherGroupsAreNotShown(t *testing.T) {
	t.Parallel()
	f, sessions := newSessions(t)
	group := domain.Scope{Company: f.Scope.Company, Groups: []int64{1}}
	all := fleettest.Must[domain.Slice[*domain.Session]](t)(sessions.List(t.Context(), f.Scope, sessionsLike(t, "", "")))
	var ids []string
	for _, s := range all.Items {
		ids = append(ids, s.ID())
	}
	l := sessionsLike(t, "", "")
	slice, err := sessions.List(t.Context(), group, l)
	if got := sessionIDs(slice.Items); err != nil || got != "db" {
		t.Errorf("the group sees %s, %v", got, err)
	}
	if n, err := sessions.Count(t.Context(), group, l); err != nil || n != 2 {
		t.Errorf("the group counts %d, %v", n, err)
	}
	for name, scope := range map[string]domain.Scope{"all": f.Scope, "group": group, "other": {Company: f.Scope.Company + 1}} {
		found, err := sessions.FindMany(t.Context(), scope, append(slices.Clone(ids), "nonsense", "", ids[0][:32]+"-9", ids[0]+"x"))
		if want := map[string]int{"all": 5, "group": 2, "other": 0}[name]; err != nil || len(found) != want {
			t.Errorf("%s finds %d, %v", name, len(found), err)
		}
		for id, s := range found {
			if s.ID() != id {
				t.Errorf("%s is found by %s", s.ID(), id)
			}
		}
	}
}
