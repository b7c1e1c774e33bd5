package condition

import (
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// HistoryDays are the days that a forecast looks at: four of each weekday.
	HistoryDays = 28
	// MinHistory is how many days a subject must have been connected for.
	MinHistory = 21
	day        = 24 * time.Hour
)

// History is the usage of a subject that a forecast is made from, in bytes of both
// directions.
type History struct {
	// Used is that of the billing period up to now, and Today that of the current UTC day.
	Used, Today int64
	// Days is the usage of the HistoryDays UTC days before today, the last one first.
	Days [HistoryDays]int64
	// ConnectedAt is when the subject was connected.
	ConnectedAt time.Time
}

// Enough reports whether the history is long enough for a forecast at that time.
func (h *History) Enough(at time.Time) bool { return !h.ConnectedAt.After(at.Add(-MinHistory * day)) }

// Total returns what usage will be at the end of the period: what was used, and for
// the rest of today and each day to come the median of that weekday's usage. A day
// that ends after the period counts by its part within.
func (h *History) Total(at time.Time, period domain.Period) int64 {
	today := at.UTC().Truncate(day)
	total := float64(h.Used)
	if rest := float64(h.median(today, at)) - float64(h.Today); rest > 0 {
		total += rest * part(at, today.Add(day), period.End)
	}
	for from := today.Add(day); from.Before(period.End); from = from.Add(day) {
		total += float64(h.median(from, at)) * part(from, from.Add(day), period.End)
	}
	const most = float64(1 << 62)
	return int64(min(total, most))
}

// part is how much of a span lies before the end.
func part(from, to, end time.Time) float64 {
	if !end.Before(to) {
		return 1
	}
	if !from.Before(end) {
		return 0
	}
	return float64(end.Sub(from)) / float64(to.Sub(from))
}

// median is that of the days with the weekday of the date, of those since the subject
// was connected.
func (h *History) median(date, at time.Time) int64 {
	today := at.UTC().Truncate(day)
	var values []int64
	for i, bytes := range h.Days {
		of := today.AddDate(0, 0, -1-i)
		if of.Weekday() == date.Weekday() && !of.Add(day).Before(h.ConnectedAt) {
			values = append(values, bytes)
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return values[middle-1]/2 + values[middle]/2 + (values[middle-1]%2+values[middle]%2)/2
}
