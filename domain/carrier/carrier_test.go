package carrier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/carrier"
)

var states = []carrier.State{carrier.Requested, carrier.Accepted, carrier.Done, carrier.Failed, carrier.Superseded, carrier.Cancelled}

// record is a subscriber with what carriers act on.
func record(barred, active, terminated bool) *domain.Subscriber {
	s := &domain.Subscriber{IsBarred: barred, IsActive: active}
	if terminated {
		s.TerminateDate = new(time.Date(2026, 11, 10, 12, 0, 0, 0, time.FixedZone("", 3600)))
	}
	return s
}

// Whatever a record was and becomes, the carrier is asked for the difference: nothing
// where nothing changes, and the opposite for the way back.
func TestACarrierIsAskedForTheDifference(t *testing.T) {
	t.Parallel()
	contract := func(s *domain.Subscriber) carrier.Kind {
		switch {
		case s.IsActive:
			return carrier.Activate
		case s.TerminateDate != nil:
			return carrier.Terminate
		}
		return carrier.Deactivate
	}
	for n := range 8 * 8 {
		bit := func(i int) bool { return n>>i&1 == 1 }
		before, after := record(bit(0), bit(1), bit(2)), record(bit(3), bit(4), bit(5))
		var want []carrier.Kind
		if before.IsBarred != after.IsBarred {
			want = append(want, map[bool]carrier.Kind{true: carrier.Bar, false: carrier.Unbar}[after.IsBarred])
		}
		if contract(before) != contract(after) {
			want = append(want, contract(after))
		}
		if got := carrier.Wanted(before, after); !slices.Equal(got, want) {
			t.Errorf("from %+v to %+v: %v, want %v", before, after, got, want)
		}
	}
}

// A newer command replaces one that waits where both are about the same.
func TestCommandsAboutTheSameReplaceEachOther(t *testing.T) {
	t.Parallel()
	about := map[carrier.Kind]string{carrier.Bar: "bar", carrier.Unbar: "bar", carrier.Activate: "contract", carrier.Deactivate: "contract", carrier.Terminate: "contract"}
	for kind := range about {
		for other := range about {
			if got := slices.Contains(kind.Opposing(), other); got != (about[kind] == about[other]) {
				t.Errorf("%s replaces %s: %v", kind, other, got)
			}
		}
	}
	if kinds := carrier.Kind("none").Opposing(); kinds != nil {
		t.Error(kinds)
	}
}

// What may be done with a command follows from its state, and from whether it was sent.
func TestWhatMayBeDoneWithACommand(t *testing.T) {
	t.Parallel()
	var got []string
	for _, state := range states {
		for _, sent := range []bool{false, true} {
			c := &carrier.Command{State: state, WasSent: sent}
			may := []string{string(state), fmt.Sprint(sent)}
			for name, err := range map[string]error{
				"cancel": c.CheckCancel(), "retry": c.CheckRetry(), "done": c.CheckReport(carrier.Done), "failed": c.CheckReport(carrier.Failed),
			} {
				if err == nil {
					may = append(may, name)
				} else if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
					t.Errorf("%s of one that is %s: %v", name, state, err)
				}
			}
			slices.Sort(may[2:])
			got = append(got, strings.Join(may, " "))
		}
	}
	want := []string{
		"requested false cancel done failed retry", "requested true done failed retry",
		"accepted false done failed retry", "accepted true done failed retry",
		"done false done", "done true done",
		"failed false done failed retry", "failed true done failed retry",
		"superseded false done failed", "superseded true done failed",
		"cancelled false done failed", "cancelled true done failed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAReportThatNoCarrierCanMakeIsRefused(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("ü", carrier.MaxReason)
	for _, c := range []struct {
		carrier.Report
		field string
	}{
		{carrier.Report{State: carrier.Done}, ""},
		{carrier.Report{State: carrier.Failed, Reason: most}, ""},
		{carrier.Report{State: carrier.Failed, Reason: most + "ü"}, "reason"},
		{carrier.Report{State: carrier.Failed, Reason: "a\x00b"}, "reason"},
		{carrier.Report{State: carrier.Failed, Reason: "\xff"}, "reason"},
		{carrier.Report{State: carrier.Accepted}, "state"},
		{carrier.Report{State: carrier.Requested}, "state"},
		{carrier.Report{State: "DONE"}, "state"},
		{carrier.Report{}, "state"},
	} {
		err := c.Check()
		fault, _ := domain.AsError(err)
		if c.field == "" && err != nil || c.field != "" && (fault == nil || fault.Kind != domain.KindInvalid || fault.Field != c.field) {
			t.Errorf("%.40q: %v", fmt.Sprint(c.Report), err)
		}
	}
}

// A 2xx takes the command; only what is clearly a report says more.
func TestTheBodyOfAnAnswerMayReport(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                     "accepted ",
		"OK":                                   "accepted ",
		`{"state": "accepted", "reason": "x"}`: "accepted ",
		`{"state": "requested"}`:               "accepted ",
		`{"state": 1}`:                         "accepted ",
		`[{"state": "done"}]`:                  "accepted ",
		`{"state": "done"}`:                    "done ",
		`{"state": "failed", "reason": "no\nsuch\u0000SIM"}`: "failed no such SIM",
	} {
		state, reason := carrier.ReadAnswer(body)
		if got := string(state) + " " + reason; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	long := strings.Repeat("ü", 3*carrier.MaxReason)
	_, reason := carrier.ReadAnswer(`{"state": "failed", "reason": "` + long + `"}`)
	if err := (&carrier.Report{State: carrier.Failed, Reason: reason}).Check(); err != nil || len(reason) < carrier.MaxReason {
		t.Errorf("a reason of %d bytes: %v", len(reason), err)
	}
}

// The event of a command names the subscriber, and when its contract ends in UTC.
func TestOnlyTerminationsHaveADate(t *testing.T) {
	t.Parallel()
	s := record(true, false, true)
	s.PhysicalID, s.SubscriberID, s.IMSI, s.OperatorCode = "p1", "s1", "i1", "23415"
	for _, kind := range []carrier.Kind{carrier.Bar, carrier.Deactivate, carrier.Terminate} {
		data := carrier.NewData("c1", 7, kind, s, new("op"))
		if data.PhysicalID != "p1" || data.SubscriberID != "s1" || data.IMSI != "i1" || data.OperatorCode != "23415" || data.Sequence != 7 || *data.OperationID != "op" {
			t.Errorf("%+v", data)
		}
		if kind != carrier.Terminate {
			if data.TerminateDate != nil {
				t.Errorf("%s ends at %v", kind, data.TerminateDate)
			}
		} else if text := data.TerminateDate.Format(time.RFC3339); text != "2026-11-10T11:00:00Z" {
			t.Error(text)
		}
	}
}
