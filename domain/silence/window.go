package silence

import (
	"fmt"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// MaxWindows bounds the windows of a silence.
	MaxWindows = 28
	dayMinutes = 24 * 60
)

// Window is a part of each week, by the clock of the company.
type Window struct {
	// Weekday is the day on which it begins.
	Weekday time.Weekday `json:"weekday"`
	// FromMinute and UntilMinute are minutes after midnight, 0 to 1439. A window that ends at
	// or before its begin ends on the next day.
	FromMinute  int `json:"from"`
	UntilMinute int `json:"until"`
}

// NewWindow reads the times of a window, as 22:00.
func NewWindow(day time.Weekday, from, until string) (w Window, err error) {
	w.Weekday = day
	if w.FromMinute, err = parseMinute("from", from); err != nil {
		return w, err
	}
	w.UntilMinute, err = parseMinute("until", until)
	return w, err
}

func parseMinute(field, text string) (int, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, domain.Invalid(field, "%s must be a time of day such as 22:00, not %q", field, text)
	}
	return at.Hour()*60 + at.Minute(), nil
}

// From returns when the window begins, as 22:00.
func (w Window) From() string { return clock(w.FromMinute) }

// Until returns when the window ends, as 06:00.
func (w Window) Until() string { return clock(w.UntilMinute) }

func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// String returns the window for the audit log.
func (w Window) String() string { return fmt.Sprintf("%s %s-%s", w.Weekday, w.From(), w.Until()) }

func checkWindows(windows []Window) error {
	if len(windows) > MaxWindows {
		return domain.Invalid("weekly", "at most %d windows, not %d", MaxWindows, len(windows))
	}
	for i, w := range windows {
		if slices.Contains(windows[:i], w) {
			return domain.At(domain.Item("weekly", i), domain.Invalid("", "%s is named twice", w))
		}
	}
	return nil
}

func (w Window) covers(at time.Time, zone *time.Location) bool {
	year, month, day := at.In(zone).Date()
	for _, begin := range []int{day, day - 1} {
		if span, on := w.on(year, month, begin, zone); on && !at.Before(span.Start) && at.Before(span.End) {
			return true
		}
	}
	return false
}

// on returns the window that begins on a day, which the month may be short of. It is
// empty where the clocks skip it.
func (w Window) on(year int, month time.Month, day int, zone *time.Location) (domain.Period, bool) {
	if time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Weekday() != w.Weekday {
		return domain.Period{}, false
	}
	end := w.UntilMinute
	if end <= w.FromMinute {
		end += dayMinutes
	}
	first, _ := instants(year, month, day, w.FromMinute, zone)
	_, last := instants(year, month, day, end, zone)
	return domain.Period{Start: first, End: last}, last.After(first)
}

// instants returns when the clocks of the zone show a minute of a day: twice where they are
// set back over it, and when they change where they skip it.
func instants(year int, month time.Month, day, minute int, zone *time.Location) (first, last time.Time) {
	wall := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	before, after := wall.Add(-offsetAt(wall.Add(-24*time.Hour), zone)), wall.Add(-offsetAt(wall.Add(24*time.Hour), zone))
	shows := func(at time.Time) bool { return at.Add(offsetAt(at, zone)).Equal(wall) }
	switch {
	case shows(before) && shows(after):
		return before, after
	case shows(before):
		return before, before
	case shows(after):
		return after, after
	}
	change, _ := before.In(zone).ZoneBounds()
	return change.UTC(), change.UTC()
}

func offsetAt(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// occurrences are the windows between two times, cut to these.
func occurrences(windows []Window, zone *time.Location, from, until time.Time) (spans []domain.Period) {
	year, month, day := from.In(zone).Date()
	for day--; ; day++ {
		if midnight, _ := instants(year, month, day, 0, zone); !midnight.Before(until) {
			return spans
		}
		for _, w := range windows {
			span, on := w.on(year, month, day, zone)
			if !on || !span.End.After(from) || !span.Start.Before(until) {
				continue
			}
			if span.Start.Before(from) {
				span.Start = from.UTC()
			}
			if span.End.After(until) {
				span.End = until.UTC()
			}
			spans = append(spans, span)
		}
	}
}

// merged joins spans that meet or overlap.
func merged(spans []domain.Period) (joined []domain.Period) {
	slices.SortFunc(spans, func(a, b domain.Period) int { return a.Start.Compare(b.Start) })
	for _, span := range spans {
		last := len(joined) - 1
		if last >= 0 && !span.Start.After(joined[last].End) {
			if span.End.After(joined[last].End) {
				joined[last].End = span.End
			}
			continue
		}
		joined = append(joined, span)
	}
	return joined
}
