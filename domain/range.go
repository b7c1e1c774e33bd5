package domain

import (
	"strings"
	"time"

	"simgraph/domain/query"
)

// Bounds of a Range.
const (
	maxRange       = MaxSeriesPoints * time.Hour
	firstRangeYear = 1970
	lastRangeYear  = 2200
)

// Range is the half-open span [Start, End) of an analytics question, in whole UTC
// hours. It is empty where Start equals End.
type Range struct {
	Start, End time.Time
	// Offset is that of startDate; keys of the answer are written in it.
	Offset *time.Location
}

// ParseRange reads startDate and endDate (spec §4.1): dates, or date-times of
// RFC 3339 with the offset also as ±hhmm, or none for UTC. A date alone counts in
// UTC, as endDate up to the end of that day. The range is widened to whole hours
// after it was measured. An error of KindInvalid names the parameter at fault.
func ParseRange(start, end string) (Range, error) {
	from, err := parseBound("startDate", start)
	if err != nil {
		return Range{}, err
	}
	to, err := parseBound("endDate", end)
	if err != nil {
		return Range{}, err
	}
	days := !from.IsInstant() && !to.IsInstant()
	switch length := to.To.Sub(from.From); {
	case length < 0, days && to.From.Before(from.From):
		return Range{}, Invalid("startDate", "startDate is after endDate")
	case length > maxRange:
		return Range{}, tooLong("endDate")
	}
	return hours(from.From, to.To), nil
}

// tooLong names the bound of a range: the points of an answer by the hour.
func tooLong(field string) *Error {
	return Invalid(field, "the range is longer than %d hours, which is as many points as an answer may have", MaxSeriesPoints)
}

// hours widens a span to whole hours, an empty one excepted.
func hours(start, end time.Time) Range {
	// Package time takes an offset that happens to be the machine's now for its
	// time zone, in which other hours have another one.
	_, offset := start.Zone()
	r := Range{Start: start.UTC().Truncate(time.Hour), Offset: time.FixedZone("", offset)}
	r.End = r.Start
	if end.After(start) {
		r.End = end.UTC().Add(time.Hour - 1).Truncate(time.Hour)
	}
	return r
}

// Key writes a time of the range as answers show it: in the offset of startDate,
// which is numeric also for UTC.
func (r Range) Key(t time.Time) string {
	return t.In(r.Offset).Format("2006-01-02T15:04:05-07:00")
}

func parseBound(field, s string) (query.Interval, error) {
	if s == "" {
		return query.Interval{}, Invalid(field, "%s is missing", field)
	}
	bound, err := query.ParseInterval(s)
	if err != nil {
		return query.Interval{}, Invalid(field, "%s: %v", field, err)
	}
	if year := bound.From.UTC().Year(); year < firstRangeYear || year > lastRangeYear {
		return query.Interval{}, Invalid(field, "%s: years go from %d to %d", field, firstRangeYear, lastRangeYear)
	}
	return bound, nil
}

// ParseInstant reads a date, which means its start in UTC, or a date-time as in
// ParseRange, to the microsecond. Nothing was URL-decoded here, so a blank in the
// offset is an error. The time is in UTC; an error of KindInvalid names the field.
func ParseInstant(field, s string) (time.Time, error) {
	at, err := query.ParseInterval(s)
	if err != nil || strings.Contains(s, " ") {
		return time.Time{}, Invalid(field, "%s: a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected", field)
	}
	return at.From.UTC(), nil
}

// EarlierOf returns the earlier of two times.
func EarlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// LaterOf returns the later of two times.
func LaterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
