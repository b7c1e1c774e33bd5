package domain_test

import (
	"reflect"
	"testing"
	"time"

	"simgraph/domain"
)

func reported(event domain.SessionEvent, seconds int, bytes int64) domain.UsageRecord {
	at := sessionBegan.Add(time.Duration(seconds) * time.Second)
	return domain.UsageRecord{
		Source: "pgw", PhysicalID: "p1", SessionID: "s", StartedAt: sessionBegan, EndedAt: at, MobileOriginated: bytes, Protocol: "IP",
		Report: &domain.SessionReport{Event: event, Cause: map[bool]string{true: "User-Request"}[event == domain.SessionStopped]},
	}
}

// The state of a session after some reports; "" is open.
func TestTheEndOfASession(t *testing.T) {
	t.Parallel()
	start, update, stop := domain.SessionStarted, domain.SessionUpdated, domain.SessionStopped
	for name, test := range map[string]struct {
		reports      []domain.UsageRecord
		endedFor     string // before the last report
		cause        string
		transferring bool
	}{
		"is open after its start":                    {[]domain.UsageRecord{reported(start, 0, 0)}, "", "", false},
		"is open and transfers":                      {[]domain.UsageRecord{reported(start, 0, 0), reported(update, 60, 9)}, "", "", true},
		"is open without new bytes":                  {[]domain.UsageRecord{reported(update, 60, 9), reported(update, 120, 9)}, "", "", false},
		"transfers whatever comes late":              {[]domain.UsageRecord{reported(update, 120, 9), reported(update, 60, 3)}, "", "", true},
		"is a stop":                                  {[]domain.UsageRecord{reported(update, 60, 9), reported(stop, 70, 10)}, "", "User-Request", false},
		"is a stop, whatever comes late":             {[]domain.UsageRecord{reported(stop, 70, 10), reported(update, 60, 9)}, "", "User-Request", false},
		"was presumed, and the session goes on":      {[]domain.UsageRecord{reported(update, 60, 9), reported(update, 500, 10)}, domain.CauseTimeout, "", true},
		"was presumed, and what comes late stays so": {[]domain.UsageRecord{reported(update, 60, 9), reported(update, 30, 2)}, domain.CauseTimeout, domain.CauseTimeout, false},
		"was presumed, and then reported":            {[]domain.UsageRecord{reported(update, 60, 9), reported(stop, 70, 10)}, domain.CauseRestart, "User-Request", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := domain.NewSession(&test.reports[0], 0)
			for i := range test.reports {
				if i == len(test.reports)-1 && test.endedFor != "" {
					s.End(s.AsOf, test.endedFor)
				}
				if _, _, err := s.Report(&test.reports[i], sessionBegan); err != nil {
					t.Fatal(err)
				}
			}
			if s.Cause != test.cause || (s.EndedAt == nil) != (test.cause == "") || s.IsTransferring != test.transferring {
				t.Errorf("ended %v for %q, transferring %t", s.EndedAt, s.Cause, s.IsTransferring)
			}
		})
	}
}

func TestACounterThatRisesByMoreThanARecordHoldsIsRejected(t *testing.T) {
	t.Parallel()
	first, second := reported(domain.SessionStarted, 0, 0), reported(domain.SessionUpdated, 60, domain.MaxUsageBytes+1)
	s := domain.NewSession(&first, 0)
	if _, _, err := s.Report(&first, sessionBegan); err != nil {
		t.Fatal(err)
	}
	before := *s
	if _, _, err := s.Report(&second, sessionBegan); err == nil {
		t.Error("it is booked")
	}
	if !reflect.DeepEqual(*s, before) {
		t.Errorf("the session became %+v", s)
	}
}

func TestTheCountryOfANetworkIsThatOfItsMCC(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]string{
		"23415": "GB United Kingdom", "310260": "US United States", "316010": "US United States", "61201": "CI Côte d'Ivoire", "750": "FK Falkland Islands",
		"202": "GR Greece", "90199": "", "00101": "", "99999": "", "23": "", "": "", "x3415": "",
	} {
		got := ""
		if country := domain.CountryOf(network); country != nil {
			got = country.Code + " " + country.Name
		}
		if got != want {
			t.Errorf("%q is of %q, not %q", network, got, want)
		}
	}
}

func TestIDsOfSessionsAreReadBack(t *testing.T) {
	t.Parallel()
	s := &domain.Session{Identity: domain.IdentifySession("pgw", "s1", "1")}
	for s.Generation = range 3 {
		if identity, generation, ok := domain.ParseSessionID(s.ID()); !ok || identity != s.Identity || generation != s.Generation {
			t.Errorf("%s is read as %x, %d, %t", s.ID(), identity, generation, ok)
		}
	}
	for _, id := range []string{"", "-", "0", s.ID()[:33], s.ID()[1:], s.ID() + "x", s.ID()[:33] + "-1", s.ID()[:33] + "4294967296", "x" + s.ID()[1:]} {
		if _, _, ok := domain.ParseSessionID(id); ok {
			t.Errorf("%q is read", id)
		}
	}
}

func TestCellsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"CGI 23415 4660 17", "SAI 310410 1 65535", "RAI 23415 4660 7", "TAI 23415 4660", "ECGI 23415 - 27447297", "ECGI 23415 4660 27447297", "NCGI 00101 1193046 68719476735"} {
		if c, err := domain.ParseRadioCell(text); err != nil || c.String() != text {
			t.Errorf("%q is read as %v, %v", text, c, err)
		}
	}
	for _, text := range []string{
		"", "CGI", "CGI 23415 4660", "CGI 23415 - 17", "TAI 23415 -", "TAI 23415 4660 1", "ECGI 23415 4660", "XGI 23415 4660 17", "CGI 2341 4660 17", "CGI 23415x 4660 17",
		"CGI 23415 04660 17", "CGI 23415 -1 17", "CGI 23415 4660 17 1", "CGI  23415 4660 17", "CGI 23415 4660 -",
	} {
		if c, err := domain.ParseRadioCell(text); err == nil {
			t.Errorf("%q is read as %v", text, c)
		}
	}
}
