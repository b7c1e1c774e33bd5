package domain

import (
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
