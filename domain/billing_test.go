package domain_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		day        int
		zone       string
		at         string
		start, end string
	}{
		{"a calendar month", 1, "UTC", "2026-11-20T12:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"its first instant", 1, "UTC", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"the instant before", 1, "UTC", "2026-10-31T23:59:59.999999999Z", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"},
		{"before the anchor", 15, "UTC", "2026-01-14T00:00:00Z", "2025-12-15T00:00:00Z", "2026-01-15T00:00:00Z"},
		{"the 31st in February", 31, "UTC", "2026-02-28T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"},
		{"the 31st in a leap year", 31, "UTC", "2028-02-29T12:00:00Z", "2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"},
		{"the 31st before a short month's end", 31, "UTC", "2026-04-29T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z"},
		{"a zone behind UTC", 1, "America/New_York", "2026-07-01T03:59:59Z", "2026-06-01T04:00:00Z", "2026-07-01T04:00:00Z"},
		{"a zone ahead of UTC", 1, "Asia/Kolkata", "2026-06-30T18:30:00Z", "2026-06-30T18:30:00Z", "2026-07-31T18:30:00Z"},
		{"over the change to summer time", 15, "Europe/London", "2026-04-01T00:00:00Z", "2026-03-15T00:00:00Z", "2026-04-14T23:00:00Z"},
		{"a midnight that does not exist", 6, "America/Santiago", "2026-09-10T00:00:00Z", "2026-09-06T04:00:00Z", "2026-10-06T03:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			billing, err := domain.NewBilling(c.day, c.zone)
			if err != nil {
				t.Fatal(err)
			}
			got := billing.PeriodAt(instant(t, c.at))
			if !got.Start.Equal(instant(t, c.start)) || !got.End.Equal(instant(t, c.end)) {
				t.Fatalf("got %v to %v", got.Start, got.End)
			}
		})
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Every instant lies in one period, and periods follow each other without gap.
func TestPeriodsTile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom([]string{"UTC", "Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "America/Santiago", "Africa/Cairo"}).Draw(t, "zone")
		billing, err := domain.NewBilling(rapid.IntRange(1, 31).Draw(t, "day"), zone)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "at"), 0)
		period := billing.PeriodAt(at)
		if at.Before(period.Start) || !at.Before(period.End) {
			t.Fatalf("%v is not in %v", at, period)
		}
		if next := billing.PeriodAt(period.End); !next.Start.Equal(period.End) {
			t.Fatalf("%v is followed by %v", period, next)
		}
		if before := billing.Before(period); !before.End.Equal(period.Start) {
			t.Fatalf("%v comes after %v", period, before)
		}
	})
}

func TestBillingThatIsNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day  int
		zone string
	}{{0, "UTC"}, {32, "UTC"}, {1, "Mars/Olympus"}, {1, "Local"}, {1, "../UTC"}} {
		if _, err := domain.NewBilling(c.day, c.zone); err == nil {
			t.Errorf("%d in %q passes", c.day, c.zone)
		}
	}
}
