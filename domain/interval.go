package domain

import "time"

// Unit is the length of the intervals of a series.
type Unit string

// The units.
const (
	Hourly  Unit = "HOUR"
	Daily   Unit = "DAY"
	Weekly  Unit = "WEEK"
	Monthly Unit = "MONTH"
)

// Interval divides time into hours, or into days, weeks from Monday on, or months of a time zone. Usage
// counts by whole UTC hours: where the zone is not a whole hour from UTC, the
// hour around midnight belongs to the day in which it begins.
type Interval struct {
	Unit Unit
	Zone *time.Location
}

// NewInterval loads the IANA time zone.
func NewInterval(unit Unit, zone string) (Interval, error) {
	at, err := loadZone(zone)
	if err != nil || zone == "Local" {
		return Interval{}, Invalid("timeZone", "timeZone %q is not an IANA time zone", zone)
	}
	return Interval{Unit: unit, Zone: at}, nil
}

// StartOf returns the first instant of the interval that holds t.
func (i Interval) StartOf(t time.Time) time.Time {
	year, month, day := t.In(i.Zone).Date()
	switch i.Unit {
	case Daily:
		return firstInstant(year, month, day, i.Zone)
	case Weekly:
		return firstInstant(year, month, day-sinceMonday(t.In(i.Zone)), i.Zone)
	case Monthly:
		return firstInstant(year, month, 1, i.Zone)
	}
	return t.UTC().Truncate(time.Hour).In(i.Zone)
}

// Next returns the first instant of the interval after the one that begins at t.
func (i Interval) Next(t time.Time) time.Time {
	year, month, day := t.In(i.Zone).Date()
	switch i.Unit {
	case Daily:
		return firstInstant(year, month, day+1, i.Zone)
	case Weekly:
		return firstInstant(year, month, day+7-sinceMonday(t.In(i.Zone)), i.Zone)
	case Monthly:
		return firstInstant(year, month+1, 1, i.Zone)
	}
	return t.Add(time.Hour)
}

// sinceMonday is how many days ago the last Monday was.
func sinceMonday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// firstInstant is midnight, or what comes first in a day whose midnight the
// clock skips.
func firstInstant(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	for wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day(); t.Day() != wanted; {
		t = t.Add(30 * time.Minute)
	}
	return t
}

// Fill returns the points of the intervals of the span that begin before known,
// with zeros where there was no usage, and further ones up to the last point; an
// empty span has none. Known is up to when usage is complete. The points must be in
// order of time and begin at StartOf. It refuses spans of more than MaxUsagePoints
// intervals.
func (i Interval) Fill(points []UsagePoint, span Range, known time.Time) ([]UsagePoint, error) {
	if err := i.Check(span); err != nil {
		return nil, err
	}
	if !span.Start.Before(span.End) {
		return nil, nil
	}
	var filled []UsagePoint
	for at := i.StartOf(span.Start); at.Before(span.End) && (at.Before(known) || len(points) > 0); at = i.Next(at) {
		point := UsagePoint{Start: at}
		if len(points) > 0 && points[0].Start.Equal(at) {
			point, points = points[0], points[1:]
		}
		filled = append(filled, point)
	}
	return filled, nil
}

// Check refuses spans of more than MaxUsagePoints intervals.
func (i Interval) Check(span Range) error {
	if hours := span.End.Sub(span.Start) / time.Hour; i.Unit == Hourly && hours > MaxUsagePoints {
		return Invalid("interval", "a series has at most %d points, these are %d hours; ask for a shorter span or a longer interval", MaxUsagePoints, hours)
	}
	return nil
}

// StartsIn returns the starts of the intervals that the span touches, in their order.
func (i Interval) StartsIn(span Range) []time.Time {
	var starts []time.Time
	for at := i.StartOf(span.Start); at.Before(span.End); at = i.Next(at) {
		starts = append(starts, at)
	}
	return starts
}

// CheckAll refuses more than MaxSeriesPoints intervals in the series of several
// subjects together.
func (i Interval) CheckAll(span Range, subjects int) error {
	steps := 0
	for at := i.StartOf(span.Start); at.Before(span.End) && steps*subjects <= MaxSeriesPoints; at = i.Next(at) {
		steps++
	}
	if steps*subjects > MaxSeriesPoints {
		return TooManyPoints(subjects)
	}
	return nil
}

// TooManyEntries is the error for lists of more than MaxSeriesPoints together, and
// for one of hours by protocol.
func TooManyEntries(subjects int) error {
	if subjects == 1 {
		return Invalid("", "the answer has more than %d entries; ask for a shorter span", MaxSeriesPoints)
	}
	return Invalid("start", "the answers of %d at once have more than %d entries; ask for fewer at a time, or a shorter span", subjects, MaxSeriesPoints)
}

// TooManyPoints is the error for series of more than MaxSeriesPoints together.
func TooManyPoints(subjects int) error {
	return Invalid("interval", "the series of %d at once have more than %d points; ask for fewer at a time, a shorter span, a longer interval or without zeroFill",
		subjects, MaxSeriesPoints)
}
