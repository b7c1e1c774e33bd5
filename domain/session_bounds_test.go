package domain_test

import (
	"testing"
	"time"

	"simgraph/domain"
)

func TestALateReadingThatIsHigherSpansNoTime(t *testing.T) {
	t.Parallel()
	var c counters
	c.read(reading(0, 600, 30, 6))
	late := reading(0, 300, 10, 9)
	if d, raised := c.read(late); !raised || !d.From.Equal(late.AsOf) || !d.To.Equal(late.AsOf) || d.MobileTerminated != 3 {
		t.Errorf("gives %+v, %t", d, raised)
	}
}

func TestACounterThatWrappedOnceStaysFlagged(t *testing.T) {
	t.Parallel()
	var c counters
	for _, r := range []domain.Reading{reading(0, 600, 4_000_000_000, 6), reading(0, 900, 100, 7), reading(0, 1200, 4_100_000_000, 8)} {
		c.read(r)
	}
	if !c.generations[0].Decreased {
		t.Error("it is believed again")
	}
}

// reports hands records to a new session.
func reports(t *testing.T, records ...domain.UsageRecord) *domain.Session {
	t.Helper()
	s := domain.NewSession(&records[0], 0)
	for i := range records {
		if _, _, err := s.Report(&records[i], sessionBegan); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestASessionThatTimedOutStaysEndedByWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	s := reports(t, reported(domain.SessionUpdated, 60, 9))
	s.End(s.AsOf.Add(time.Hour), domain.CauseTimeout)
	before := reported(domain.SessionUpdated, 600, 10)
	if _, _, err := s.Report(&before, sessionBegan); err != nil {
		t.Fatal(err)
	}
	if s.EndedAt == nil || s.Cause != domain.CauseTimeout {
		t.Errorf("it is open again: %+v", s)
	}
}

func TestWhatOnlyALateReportStatesIsKept(t *testing.T) {
	t.Parallel()
	newest, late := reported(domain.SessionUpdated, 120, 9), reported(domain.SessionUpdated, 60, 3)
	newest.Report.IMEI, late.Report.IMEI, late.Report.APN = "3512345678901234", "9912345678901234", "iot.example"
	late.Report.ClockOff = true
	last := reported(domain.SessionUpdated, 180, 12)
	s := reports(t, newest, late, last)
	if s.APN != "iot.example" || s.IMEI != newest.Report.IMEI {
		t.Errorf("APN %q, IMEI %q", s.APN, s.IMEI)
	}
	if !s.ClockOff {
		t.Error("the wrong clock is forgotten")
	}
}

func TestTheIntervalIsTheNewestOfTenSecondsOrMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second, third, want int }{
		"the least":        {0, 300, 310, 10},
		"too short":        {0, 300, 309, 300},
		"the longer last":  {0, 10, 310, 300},
		"the shorter last": {0, 300, 360, 60},
	} {
		s := reports(t, reported(domain.SessionStarted, c.first, 0), reported(domain.SessionUpdated, c.second, 1), reported(domain.SessionUpdated, c.third, 2))
		if s.IntervalSeconds != c.want {
			t.Errorf("%s: %d s, not %d", name, s.IntervalSeconds, c.want)
		}
	}
}

func TestAReportMayBeOfTheFirstMomentOfTheLedger(t *testing.T) {
	t.Parallel()
	now := sessionBegan.Add(time.Hour)
	r := reported(domain.SessionUpdated, 60, 9)
	if err := r.Check(now, r.EndedAt); err != nil {
		t.Error(err)
	}
	if err := r.Check(now, r.EndedAt.Add(1)); err == nil {
		t.Error("what is older is taken")
	}
}

func TestStepsOfIntervalsAreCloseAndRise(t *testing.T) {
	t.Parallel()
	last := time.Duration(0)
	for gap := domain.MinInterval; gap <= 24*time.Hour; gap += time.Second {
		step := domain.IntervalStep(gap)
		if step < gap || step < last || float64(step) > 1.1*float64(gap)+float64(time.Second) {
			t.Fatalf("%v is %v", gap, step)
		}
		last = step
	}
	if most := domain.IntervalStep(30 * 24 * time.Hour); most != last {
		t.Errorf("a month is %v, a day %v", most, last)
	}
}
