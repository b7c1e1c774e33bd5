package domain

import (
	"testing"
	"time"
)

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func TestTheLedgerBeginsWithWhatIsKeptOrStored(t *testing.T) {
	t.Parallel()
	now := date(2026, time.November, 20)
	for name, c := range map[string]struct {
		ledger Ledger
		clock  time.Time
		want   time.Time
	}{
		"nothing is stored":                 {Ledger{LedgerEpoch, 13, time.Time{}}, now, date(2025, time.October, 1)},
		"an older month is stored":          {Ledger{LedgerEpoch, 3, date(2026, time.March, 1)}, now, date(2026, time.March, 1)},
		"months were taken out":             {Ledger{date(2026, time.August, 1), 13, date(2026, time.August, 1)}, now, date(2026, time.August, 1)},
		"what came back by mistake":         {Ledger{date(2026, time.August, 1), 13, date(2026, time.April, 1)}, now, date(2026, time.August, 1)},
		"the clock is 14 months ahead":      {Ledger{LedgerEpoch, 13, date(2026, time.March, 1)}, now.AddDate(0, 14, 0), date(2026, time.March, 1)},
		"the clock is three years behind":   {Ledger{date(2026, time.August, 1), 13, date(2026, time.August, 1)}, now.AddDate(-3, 0, 0), date(2026, time.August, 1)},
		"only months to come are stored":    {Ledger{LedgerEpoch, 13, date(2028, time.January, 1)}, now, date(2025, time.October, 1)},
		"the retention was raised in vain":  {Ledger{date(2026, time.August, 1), 24, date(2026, time.August, 1)}, now, date(2026, time.August, 1)},
		"the retention was raised in time":  {Ledger{LedgerEpoch, 24, date(2026, time.March, 1)}, now, date(2024, time.November, 1)},
		"the clock is at the end of a year": {Ledger{LedgerEpoch, 3, time.Time{}}, date(2026, time.January, 31), date(2025, time.October, 1)},
	} {
		if got := c.ledger.Begins(c.clock); !got.Equal(c.want) {
			t.Errorf("%s: it begins %v, not %v", name, got, c.want)
		}
	}
}

func TestAClockIsTrustedADayPastTheNewestUsage(t *testing.T) {
	t.Parallel()
	newest := date(2026, time.November, 20)
	for clock, want := range map[time.Time]time.Time{
		newest.Add(-time.Hour):     newest.Add(-time.Hour),
		newest.Add(24 * time.Hour): newest.Add(24 * time.Hour),
		newest.AddDate(0, 14, 0):   newest.Add(24 * time.Hour),
	} {
		if got := TrustedClock(clock, newest); !got.Equal(want) {
			t.Errorf("%v is trusted to %v", clock, got)
		}
	}
	if got := TrustedClock(newest, time.Time{}); !got.Equal(newest) {
		t.Errorf("without usage: %v", got)
	}
}

// A plan of one old month, in a process that runs for long.
func oldMonth(m LedgerMonth) LedgerPlan {
	m.Month = date(2026, time.March, 1)
	return LedgerPlan{
		Months:   []LedgerMonth{m, {Month: date(2026, time.November, 1)}},
		KeptFrom: date(2026, time.August, 1), Clock: date(2026, time.November, 20), Uptime: time.Hour, Rules: DefaultLedgerRules,
	}
}

func TestAStepNeedsTheOneBeforeItLongEnoughAgo(t *testing.T) {
	t.Parallel()
	ago := func(days int) time.Time { return date(2026, time.November, 20-days) }
	early := func(days int) time.Time { return ago(days).Add(time.Second) }
	for name, c := range map[string]struct {
		month LedgerMonth
		want  LedgerAction
	}{
		"nothing happened":                 {LedgerMonth{}, LedgerAnnounce},
		"announced less than a day ago":    {LedgerMonth{AnnouncedAt: early(1)}, ""},
		"announced a day ago":              {LedgerMonth{AnnouncedAt: ago(1)}, LedgerDetach},
		"detached less than six days ago":  {LedgerMonth{AnnouncedAt: ago(9), DetachedAt: early(6)}, ""},
		"detached six days ago":            {LedgerMonth{AnnouncedAt: ago(9), DetachedAt: ago(6)}, LedgerDue},
		"detached long ago, not announced": {LedgerMonth{AnnouncedAt: ago(19), DetachedAt: ago(18)}, LedgerDue},
		"due for less than a day":          {LedgerMonth{AnnouncedAt: ago(19), DetachedAt: ago(18), DueAt: early(1)}, ""},
		"due for a day":                    {LedgerMonth{AnnouncedAt: ago(19), DetachedAt: ago(7), DueAt: ago(1)}, LedgerDrop},
		"due, but detached for too short":  {LedgerMonth{AnnouncedAt: ago(19), DetachedAt: early(7), DueAt: ago(1)}, ""},
		"dropped":                          {LedgerMonth{AnnouncedAt: ago(19), DetachedAt: ago(18), DueAt: ago(11), DroppedAt: ago(10)}, ""},
	} {
		if step, _ := oldMonth(c.month).Next(); step.Action != c.want {
			t.Errorf("%s: %q, not %q", name, step.Action, c.want)
		}
	}
}

func TestAPlanHoldsBackWhatWouldBeTooMuch(t *testing.T) {
	t.Parallel()
	announced := LedgerMonth{AnnouncedAt: date(2026, time.November, 1)}
	young := oldMonth(announced)
	young.Uptime = time.Hour - 1
	kept := oldMonth(announced)
	kept.KeptFrom = date(2026, time.March, 1)
	second := oldMonth(announced)
	second.Months = append([]LedgerMonth{{
		Month: date(2026, time.February, 1), AnnouncedAt: date(2026, time.November, 1), DetachedAt: date(2026, time.November, 19).Add(time.Second),
	}}, second.Months...)
	for name, c := range map[string]struct {
		plan LedgerPlan
		want LedgerAction
	}{
		"the process is young":              {young, ""},
		"the retention covers the month":    {kept, LedgerWithdraw},
		"another was detached within a day": {second, ""},
		"nothing is in the way":             {oldMonth(announced), LedgerDetach},
	} {
		if step, _ := c.plan.Next(); step.Action != c.want {
			t.Errorf("%s: %q, not %q", name, step.Action, c.want)
		}
	}
}

func TestALedgerIsRestoredWithoutGaps(t *testing.T) {
	t.Parallel()
	aside := func(month time.Month) LedgerMonth {
		return LedgerMonth{Month: date(2026, month, 1), DetachedAt: date(2026, time.October, 1)}
	}
	dropped := aside(time.May)
	dropped.DroppedAt = date(2026, time.October, 9)
	stored := LedgerMonth{Month: date(2026, time.July, 1)}
	for name, c := range map[string]struct {
		months []LedgerMonth
		from   time.Month
		want   time.Month // 0 where it is refused
	}{
		"the last that is aside":  {[]LedgerMonth{aside(time.May), aside(time.June), stored}, time.June, time.June},
		"with those after it":     {[]LedgerMonth{aside(time.May), aside(time.June), stored}, time.May, time.June},
		"what was dropped":        {[]LedgerMonth{dropped, aside(time.June), stored}, time.May, 0},
		"one before was dropped":  {[]LedgerMonth{dropped, aside(time.June), stored}, time.June, time.June},
		"one after it is dropped": {[]LedgerMonth{aside(time.April), dropped, aside(time.June), stored}, time.April, 0},
		"what is stored":          {[]LedgerMonth{aside(time.June), stored}, time.July, 0},
		"what never was":          {[]LedgerMonth{aside(time.June), stored}, time.January, 0},
	} {
		latest, err := LatestDetached(c.months, date(2026, c.from, 1))
		if (err == nil) != (c.want != 0) || err == nil && latest.Month() != c.want {
			t.Errorf("%s: %v, %v", name, latest, err)
		}
	}
}
