package domain_test

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	fatal.If(t, err)
	return moment
}

func TestDaysAndMonthsBeginWithTheirFirstInstant(t *testing.T) {
	for _, c := range []struct {
		unit               domain.Unit
		zone               string
		moment, start, end string
	}{
		{domain.Hourly, "Asia/Kolkata", "2026-03-01T10:59:59Z", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"},
		{domain.Daily, "UTC", "2026-03-01T10:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
		{domain.Daily, "Asia/Kolkata", "2026-03-01T18:30:00Z", "2026-03-01T18:30:00Z", "2026-03-02T18:30:00Z"},
		// 25 and 23 hours.
		{domain.Daily, "Europe/London", "2026-10-25T12:00:00Z", "2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z"},
		{domain.Daily, "Europe/London", "2026-03-29T12:00:00Z", "2026-03-29T00:00:00Z", "2026-03-29T23:00:00Z"},
		// The clock skips midnight.
		{domain.Daily, "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		{domain.Daily, "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		// Midnight comes twice.
		{domain.Daily, "America/Havana", "2026-11-01T04:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{domain.Weekly, "Europe/Berlin", "2026-10-25T23:30:00Z", "2026-10-25T23:00:00Z", "2026-11-01T23:00:00Z"},
		{domain.Weekly, "America/St_Johns", "2026-11-01T12:00:00Z", "2026-10-26T02:30:00Z", "2026-11-02T03:30:00Z"},
		{domain.Weekly, "UTC", "2027-01-01T00:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		{domain.Monthly, "America/St_Johns", "2026-03-10T00:00:00Z", "2026-03-01T03:30:00Z", "2026-04-01T02:30:00Z"},
		{domain.Monthly, "UTC", "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
	} {
		interval, err := domain.NewInterval(c.unit, c.zone)
		fatal.If(t, err)
		start := interval.StartOf(at(t, c.moment))
		if !start.Equal(at(t, c.start)) {
			t.Errorf("%s %s of %s begins at %s, not %s", c.zone, c.unit, c.moment, start.UTC(), c.start)
		}
		if end := interval.Next(start); !end.Equal(at(t, c.end)) {
			t.Errorf("%s %s of %s ends at %s, not %s", c.zone, c.unit, c.moment, end.UTC(), c.end)
		}
	}
}

func TestASeriesIsFilledWithZeros(t *testing.T) {
	interval, err := domain.NewInterval(domain.Daily, "Europe/London")
	fatal.If(t, err)
	span, err := domain.NewRange(at(t, "2026-10-24T00:00:00Z"), at(t, "2026-10-27T00:00:00Z"))
	fatal.If(t, err)
	used := domain.UsagePoint{Start: interval.StartOf(at(t, "2026-10-25T12:00:00Z"))}
	used.MobileOriginated = 5
	points, err := interval.Fill([]domain.UsagePoint{used}, span, span.End)
	if err != nil || len(points) != 3 {
		t.Fatal(points, err)
	}
	for i, p := range points {
		if want := i == 1; (p.Total() == 5) != want {
			t.Errorf("%d bytes on %s", p.Total(), p.Start)
		}
	}
}

func TestAnEmptySpanHasNoStepsWithinLongerOnes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, unit := range []domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly} {
		points, err := domain.Interval{Unit: unit, Zone: time.UTC}.Fill(nil, domain.Range{Start: noon, End: noon}, noon)
		if len(points) > 0 || err != nil {
			t.Errorf("%s: %v %v", unit, points, err)
		}
	}
}

func TestARangeHasBounds(t *testing.T) {
	now := at(t, "2026-11-20T12:30:00Z")
	span, err := domain.NewRange(now, now.Add(time.Minute))
	if err != nil || span.End.Sub(span.Start) != time.Hour {
		t.Error(span, err)
	}
	if span, err = domain.NewRange(now, now); err != nil || !span.Start.Equal(span.End) {
		t.Error(span, err)
	}
	if before := span.Before(); !before.End.Equal(span.Start) {
		t.Error(before)
	}
	for _, end := range []time.Time{now.Add(-time.Second), now.Add(domain.MaxSeriesPoints*time.Hour + 1)} {
		if _, err := domain.NewRange(now, end); err == nil {
			t.Errorf("a range to %s is accepted", end)
		}
	}
}

func TestSeriesOfManyAreBoundedTogether(t *testing.T) {
	t.Parallel()
	span := domain.Range{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC)}
	hourly, monthly := domain.Interval{Unit: domain.Hourly, Zone: time.UTC}, domain.Interval{Unit: domain.Monthly, Zone: time.UTC}
	if err := hourly.CheckAll(span, domain.MaxSeriesPoints/960); err != nil {
		t.Error(err)
	}
	if public, ok := domain.AsError(hourly.CheckAll(span, domain.MaxSeriesPoints/960+1)); !ok || public.Kind != domain.KindInvalid {
		t.Errorf("got %v", public)
	}
	if err := monthly.CheckAll(span, domain.MaxSeriesPoints/2); err != nil {
		t.Error(err)
	}
}

func TestASeriesMayHaveAsManyHoursAsTheBound(t *testing.T) {
	t.Parallel()
	hourly := domain.Interval{Unit: domain.Hourly, Zone: time.UTC}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for hours, fits := range map[int]bool{domain.MaxUsagePoints: true, domain.MaxUsagePoints + 1: false} {
		span := domain.Range{Start: start, End: start.Add(time.Duration(hours) * time.Hour), Offset: time.UTC}
		points, err := hourly.Fill(nil, span, span.End)
		if (err == nil) != fits || fits && len(points) != hours {
			t.Errorf("%d hours: %d points, %v", hours, len(points), err)
		}
	}
}

func TestASeriesEndsWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	daily := domain.Interval{Unit: domain.Daily, Zone: time.UTC}
	span := domain.Range{Start: at(t, "2026-11-01T00:00:00Z"), End: at(t, "2026-12-01T00:00:00Z"), Offset: time.UTC}
	used := domain.UsagePoint{Start: at(t, "2026-11-09T00:00:00Z")}
	for _, c := range []struct {
		known  string
		points []domain.UsagePoint
		days   int
	}{
		{"2026-11-05T10:05:00Z", nil, 5},
		{"2026-11-05T00:00:00Z", nil, 4},
		{"2026-12-24T00:00:00Z", nil, 30},
		{"2026-10-24T00:00:00Z", nil, 0},
		{"2026-11-05T10:05:00Z", []domain.UsagePoint{used}, 9},
	} {
		points, err := daily.Fill(c.points, span, at(t, c.known))
		if err != nil || len(points) != c.days {
			t.Errorf("known to %s: %d days, %v", c.known, len(points), err)
		}
	}
}
