package domain

import (
	"math"
	"sync"
	"time"
)

// Period is a half-open span of time, in UTC.
type Period struct{ Start, End time.Time }

// Billing defines when a company's billing periods begin: on an anchor day of
// each month (1 to 31, clamped to the month's last day) at midnight in a time
// zone.
type Billing struct {
	Day  int
	Zone *time.Location
}

// NewBilling checks the anchor day and loads the IANA time zone.
func NewBilling(day int, zone string) (Billing, error) {
	if day < 1 || day > 31 {
		return Billing{}, Invalid("billingDay", "billingDay must be 1 to 31, not %d", day)
	}
	if zone == "Local" {
		return Billing{}, Invalid("timeZone", "timeZone must be an IANA name such as Europe/London")
	}
	at, err := loadZone(zone)
	if err != nil {
		return Billing{}, Invalid("timeZone", "timeZone %q is not an IANA time zone", zone)
	}
	return Billing{Day: day, Zone: at}, nil
}

// zones are the time zones that were loaded: to load one reads a file.
var zones sync.Map

func loadZone(name string) (*time.Location, error) {
	if zone, loaded := zones.Load(name); loaded {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		zones.Store(name, zone)
	}
	return zone, err
}

// PeriodAt returns the billing period that holds t.
func (b Billing) PeriodAt(t time.Time) Period {
	year, month, _ := t.In(b.Zone).Date()
	start := b.begin(year, month)
	if t.Before(start) {
		return Period{b.begin(year, month-1), start}
	}
	return Period{start, b.begin(year, month+1)}
}

// Before returns the billing period that ends where p begins.
func (b Billing) Before(p Period) Period { return b.PeriodAt(p.Start.Add(-time.Nanosecond)) }

func (b Billing) begin(year int, month time.Month) time.Time {
	lastDay := time.Date(year, month+1, 0, 12, 0, 0, 0, time.UTC).Day()
	day := min(b.Day, lastDay)
	midnight := time.Date(year, month, day, 0, 0, 0, 0, b.Zone)
	if midnight.Day() != day {
		// The clocks skip that midnight: the day begins with the change.
		_, midnight = midnight.ZoneBounds()
	}
	return midnight.UTC()
}

// Alignment is how a span is moved to be compared with another.
type Alignment string

// The alignments: to a day, to the same day of the week, to the same day of a billing period.
const (
	AlignDate    Alignment = "DATE"
	AlignWeekday Alignment = "WEEKDAY"
	AlignPeriod  Alignment = "BILLING_PERIOD"
)

// Move returns the span moved by whole days of the zone, near to an instant. By billing
// periods its ends are moved each by itself: a day that a period does not have becomes its end.
func (b Billing) Move(span Range, to time.Time, align Alignment) (Range, error) {
	var start, end time.Time
	if align == AlignPeriod {
		periods := b.monthOf(b.PeriodAt(to)) - b.monthOf(b.PeriodAt(lastMinute(span.Start)))
		start, end = b.movePeriods(span.Start, periods), b.movePeriods(span.End, periods)
	} else {
		days := b.dayOf(to) - b.dayOf(lastMinute(span.Start))
		if align == AlignWeekday {
			days = int(math.Round(float64(days)/daysOfWeek)) * daysOfWeek
		}
		start, end = b.moveDays(span.Start, days), b.moveDays(span.End, days)
	}
	return NewRange(start, end)
}

const daysOfWeek = 7

// lastMinute is that of the hour which begins at t: where the zone is not a whole hour from
// UTC, a span that begins with a day was widened to the hour in which the day begins.
func lastMinute(t time.Time) time.Time { return t.Add(time.Hour - time.Minute) }

// dayOf numbers the days of the zone, monthOf the months in which periods begin.
func (b Billing) dayOf(t time.Time) int {
	year, month, day := t.In(b.Zone).Date()
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / int64(24*time.Hour/time.Second))
}

func (b Billing) monthOf(p Period) int {
	year, month, _ := p.Start.In(b.Zone).Date()
	return 12*year + int(month)
}

// moveDays keeps the time of day.
func (b Billing) moveDays(t time.Time, days int) time.Time {
	year, month, day := t.In(b.Zone).Date()
	midnight := firstInstant(year, month, day, b.Zone)
	if moved := firstInstant(year, month, day+days, b.Zone); t.Equal(midnight) {
		return moved
	}
	return t.In(b.Zone).AddDate(0, 0, days)
}

func (b Billing) movePeriods(t time.Time, periods int) time.Time {
	own := b.PeriodAt(lastMinute(t))
	year, month, _ := own.Start.In(b.Zone).Date()
	other := Period{b.begin(year, month+time.Month(periods)), b.begin(year, month+time.Month(periods)+1)}
	day := min(b.dayOf(other.Start)+b.dayOf(lastMinute(t))-b.dayOf(own.Start), b.dayOf(other.End))
	return b.moveDays(t, day-b.dayOf(lastMinute(t)))
}
