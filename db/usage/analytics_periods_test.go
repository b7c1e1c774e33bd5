package usage

import (
	"fmt"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Billing periods are taken whole in each time zone; what they leave is before and after them.
func TestSplitPeriods(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone        string
		from, until string
		want        string
	}{
		"two months and a half":    {"UTC", "2026-01-01T00", "2026-03-16T00", "[2026-01-01T00 2026-02-01T00] [2026-03-01T00/2026-03-16T00]"},
		"a month that lacks a day": {"UTC", "2026-02-01T00", "2026-02-28T00", "[] [2026-02-01T00/2026-02-28T00]"},
		"a month":                  {"UTC", "2026-02-01T00", "2026-03-01T00", "[2026-02-01T00] []"},
		"within a month":           {"UTC", "2026-02-03T00", "2026-02-05T00", "[] [2026-02-03T00/2026-02-05T00]"},
		"parts on both sides":      {"UTC", "2026-01-31T05", "2026-03-01T07", "[2026-02-01T00] [2026-01-31T05/2026-02-01T00 2026-03-01T00/2026-03-01T07]"},
		"the clock is set ahead":   {"Europe/London", "2026-03-01T00", "2026-04-30T23", "[2026-03-01T00 2026-03-31T23] []"},
		"an hour too short":        {"Europe/London", "2026-03-01T01", "2026-03-31T23", "[] [2026-03-01T01/2026-03-31T23]"},
		"no period begins at 0:00": {"Europe/Berlin", "2025-12-31T23", "2026-02-28T23", "[2025-12-31T23 2026-01-31T23] []"},
		"whole days of UTC":        {"Europe/Berlin", "2026-01-01T00", "2026-03-01T00", "[2026-01-31T23] [2026-01-01T00/2026-01-31T23 2026-02-28T23/2026-03-01T00]"},
		"half hours":               {"Asia/Kolkata", "2025-12-31T18", "2026-01-31T19", "[] [2025-12-31T18/2026-01-31T19]"},
		// From 5 April on it is half an hour behind.
		"some half hours": {"Australia/Lord_Howe", "2026-02-28T13", "2026-04-30T14", "[2026-02-28T13] [2026-03-31T13/2026-04-30T14]"},
	} {
		const hour = "2006-01-02T15"
		billing, err := domain.NewBilling(1, c.zone)
		fatal.If(t, err)
		from, err := time.Parse(hour, c.from)
		fatal.If(t, err)
		until, err := time.Parse(hour, c.until)
		fatal.If(t, err)
		starts, rest := splitPeriods(billing, domain.Range{Start: from, End: until})
		text := func(at time.Time) string { return at.UTC().Format(hour) }
		var periods, ranges []string
		for _, start := range starts {
			periods = append(periods, text(start))
		}
		for _, r := range rest {
			ranges = append(ranges, text(r.Start)+"/"+text(r.End))
		}
		if got := fmt.Sprint(periods, ranges); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
