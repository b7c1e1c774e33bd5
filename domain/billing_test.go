package domain_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/internal/fatal"
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
			fatal.If(t, err)
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
	fatal.If(t, err)
	return at
}

// Every instant lies in one period, and periods follow each other without gap.
func TestPeriodsTile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom([]string{"UTC", "Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "America/Santiago", "Africa/Cairo"}).Draw(t, "zone")
		billing, err := domain.NewBilling(rapid.IntRange(1, 31).Draw(t, "day"), zone)
		fatal.If(t, err)
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

func TestASpanIsMovedByWholeDaysOfTheZone(t *testing.T) {
	const minute = "2006-01-02T15:04"
	for _, c := range []struct{ zone, start, end, to, align, wantStart, wantEnd string }{
		{"UTC", "2026-11-02T00:00", "2026-11-09T00:00", "2026-10-05T17:00", "DATE", "2026-10-05T00:00", "2026-10-12T00:00"},
		{"UTC", "2026-11-02T06:00", "2026-11-02T09:00", "2026-10-05T17:00", "DATE", "2026-10-05T06:00", "2026-10-05T09:00"},
		// Over the change of clocks on 25 October the days stay days.
		{"Europe/Berlin", "2026-11-01T00:00", "2026-12-01T00:00", "2026-10-01T00:00", "DATE", "2026-10-01T00:00", "2026-10-31T00:00"},
		{"Europe/Berlin", "2026-10-19T00:00", "2026-10-26T00:00", "2026-10-12T00:00", "WEEKDAY", "2026-10-12T00:00", "2026-10-19T00:00"},
		// Monday to the nearest Monday: back from Wednesday, on from Friday.
		{"UTC", "2026-11-02T00:00", "2026-11-03T00:00", "2026-10-07T00:00", "WEEKDAY", "2026-10-05T00:00", "2026-10-06T00:00"},
		{"UTC", "2026-11-02T00:00", "2026-11-03T00:00", "2026-10-09T00:00", "WEEKDAY", "2026-10-12T00:00", "2026-10-13T00:00"},
		// A quarter of billing periods that begin on the 15th, against the one a year before.
		{"Europe/Berlin", "2026-07-15T00:00", "2026-10-15T00:00", "2025-08-01T00:00", "BILLING_PERIOD", "2025-07-15T00:00", "2025-10-15T00:00"},
		{"UTC", "2026-10-20T00:00", "2026-10-22T00:00", "2026-09-15T00:00", "BILLING_PERIOD", "2026-09-20T00:00", "2026-09-22T00:00"},
		// The 31st day, of a period that has 28: only its end is left.
		{"UTC", "2026-08-12T00:00", "2026-08-15T00:00", "2026-02-20T00:00", "BILLING_PERIOD", "2026-03-15T00:00", "2026-03-15T00:00"},
		{"UTC", "2026-02-15T00:00", "2026-03-15T00:00", "2026-08-01T00:00", "BILLING_PERIOD", "2026-07-15T00:00", "2026-08-15T00:00"},
		// Half an hour from UTC: what was widened to the whole hour is moved as what it was.
		{"America/St_Johns", "2026-11-08T00:00", "2026-11-15T00:00", "2026-10-18T00:00", "DATE", "2026-10-18T00:00", "2026-10-25T00:00"},
		{"America/St_Johns", "2026-10-15T00:00", "2026-11-15T00:00", "2026-09-20T00:00", "BILLING_PERIOD", "2026-09-15T00:00", "2026-10-15T00:00"},
	} {
		b, err := domain.NewBilling(15, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at := func(text string) time.Time {
			moment, err := time.ParseInLocation(minute, text, b.Zone)
			if err != nil {
				t.Fatal(err)
			}
			return moment
		}
		span, err := domain.NewRange(at(c.start), at(c.end))
		if err != nil {
			t.Fatal(err)
		}
		want, err := domain.NewRange(at(c.wantStart), at(c.wantEnd))
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Move(span, at(c.to), domain.Alignment(c.align))
		if err != nil || !got.Start.Equal(want.Start) || !got.End.Equal(want.End) {
			t.Errorf("%+v: got %v to %v, want %v to %v: %v", c, got.Start, got.End, want.Start, want.End, err)
		}
	}
}

// A span that is moved and moved back is what it was, wherever clocks change.
func TestAMovedSpanMovesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := domain.NewBilling(1, rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/St_Johns", "Africa/Cairo"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		day := func(n int) time.Time { return time.Date(2026, 1, 1+n, 12, 0, 0, 0, b.Zone) }
		start := rapid.IntRange(0, 700).Draw(t, "start")
		days := domain.Interval{Unit: domain.Daily, Zone: b.Zone}
		span, err := domain.NewRange(days.StartOf(day(start)), days.StartOf(day(start+rapid.IntRange(1, 100).Draw(t, "days"))))
		if err != nil {
			t.Fatal(err)
		}
		align := rapid.SampledFrom([]domain.Alignment{domain.AlignDate, domain.AlignWeekday}).Draw(t, "align")
		moved, err := b.Move(span, day(rapid.IntRange(0, 700).Draw(t, "to")), align)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(days.StartsIn(moved)), len(days.StartsIn(span)); got != want {
			t.Fatalf("%d days became %d", want, got)
		}
		if back, err := b.Move(moved, day(start), align); err != nil || !back.Start.Equal(span.Start) || !back.End.Equal(span.End) {
			t.Fatalf("%v to %v came back as %v to %v: %v", span.Start, span.End, back.Start, back.End, err)
		}
	})
}
