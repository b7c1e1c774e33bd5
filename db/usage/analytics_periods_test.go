package usage

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Billing periods are taken whole, and only those that begin and end with UTC days.
func TestSplitPeriods(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone         string
		from, until  string
		starts, rest int
	}{
		"two months and a half":                    {"UTC", "2026-01-01", "2026-03-16", 2, 15},
		"a month that lacks a day":                 {"UTC", "2026-02-01", "2026-02-28", 0, 27},
		"a month":                                  {"UTC", "2026-02-01", "2026-03-01", 1, 0},
		"a month in which the clock is set ahead":  {"Europe/London", "2026-03-01", "2026-05-01", 0, 61},
		"months of winter":                         {"Europe/London", "2026-01-01", "2026-03-01", 2, 0},
		"a zone in which no period begins at 0:00": {"Europe/Berlin", "2026-01-01", "2026-03-01", 0, 59},
	} {
		billing, err := domain.NewBilling(1, c.zone)
		fatal.If(t, err)
		from, _ := time.Parse(time.DateOnly, c.from)
		until, _ := time.Parse(time.DateOnly, c.until)
		var days []time.Time
		for day := from; day.Before(until); day = day.AddDate(0, 0, 1) {
			days = append(days, day)
		}
		if starts, rest := splitPeriods(billing, days); len(starts) != c.starts || len(rest) != c.rest {
			t.Errorf("%s: %d periods and %d days, want %d and %d", name, len(starts), len(rest), c.starts, c.rest)
		}
	}
}
