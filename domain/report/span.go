package report

import (
	"time"

	"simgraph/domain"
)

// Span is a half-open span of whole hours of UTC, since usage is known by those.
type Span = domain.Period

// Asked is when a question is about.
type Asked struct {
	Span
	// Before is the span that it is compared with; nil for none.
	Before *Span
	// IsRunning is whether the span has not ended yet.
	IsRunning bool
}

// days are those of a calendar: their midnights in UTC. Before begins the unit before the span.
type days struct{ first, end, before time.Time }

// AskedOf returns when a question is about that is asked at now, by the company's billing: in
// its zone, a span that runs ends with the hour, as does what it is compared with. period is
// that of SpanThisPeriod. The page has the same rule in web/app/usage/span.ts, and
// testdata/spans.json the cases of both.
func AskedOf(d *domain.QuestionDefinition, billing domain.Billing, period domain.Period, now time.Time) Asked {
	zone := billing.Zone
	of := daysOf(d, day(now, zone), billing, period)
	from, end := startOf(of.first, zone), startOf(of.end, zone)
	asked := Asked{Span: Span{Start: from, End: end}}
	if next := domain.WholeHour(now); end.After(next) {
		asked.IsRunning = true
		asked.End = domain.LaterOf(from, next)
	}
	if d.Compare == nil {
		return asked
	}
	former, formerEnd := of.before, of.first
	if *d.Compare == domain.CompareYearBefore {
		former, formerEnd = of.first.AddDate(-1, 0, 0), of.end.AddDate(-1, 0, 0)
	}
	until := startOf(formerEnd, zone)
	if asked.IsRunning && asked.End.After(from) {
		until = domain.EarlierOf(until, sameTime(asked.End, of.first, former, zone))
	}
	asked.Before = &Span{Start: startOf(former, zone)}
	asked.Before.End = domain.LaterOf(asked.Before.Start, until)
	return asked
}

// sameTime is the time of t on the day that is as far from former as that of t is from first.
func sameTime(t, first, former time.Time, zone *time.Location) time.Time {
	passed := int(day(t, zone).Sub(first) / (24 * time.Hour))
	year, month, on := former.AddDate(0, 0, passed).Date()
	local := t.In(zone)
	return domain.WholeHour(atWallClock(time.Date(year, month, on, local.Hour(), local.Minute(), 0, 0, time.UTC), zone))
}

func daysOf(d *domain.QuestionDefinition, today time.Time, billing domain.Billing, period domain.Period) days {
	year, month, _ := today.Date()
	monday := today.AddDate(0, 0, -((int(today.Weekday()) + 6) % 7))
	span := func(from, end time.Time) days { return days{from, end, from.Add(from.Sub(end))} }
	around := func(first, after int) days { return span(today.AddDate(0, 0, first), today.AddDate(0, 0, after)) }
	months := func(from time.Month, length time.Month) days {
		first := func(month time.Month) time.Time { return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC) }
		return days{first(from), first(from + length), first(from - length)}
	}
	quarter := month - (month-1)%3
	switch d.Span {
	case domain.SpanYesterday:
		return around(-1, 0)
	case domain.SpanThisWeek:
		return span(monday, monday.AddDate(0, 0, 7))
	case domain.SpanLastWeek:
		return span(monday.AddDate(0, 0, -7), monday)
	case domain.SpanLast7Days:
		return around(-6, 1)
	case domain.SpanLast30Days:
		return around(-29, 1)
	case domain.SpanThisMonth:
		return months(month, 1)
	case domain.SpanLastMonth:
		return months(month-1, 1)
	case domain.SpanThisQuarter:
		return months(quarter, 3)
	case domain.SpanLastQuarter:
		return months(quarter-3, 3)
	case domain.SpanThisYear:
		return months(time.January, 12)
	case domain.SpanLastYear:
		return months(time.January-12, 12)
	case domain.SpanThisPeriod:
		return days{day(period.Start, billing.Zone), day(period.End, billing.Zone), day(billing.Before(period).Start, billing.Zone)}
	case domain.SpanDays:
		first, last := written(d.FirstDay), written(d.LastDay)
		return span(first, last.AddDate(0, 0, 1))
	}
	return around(0, 1) // SpanToday
}

// written is a day of a definition, which Check has read before.
func written(text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	at, _ := time.Parse(time.DateOnly, *text)
	return at
}

// day is the day of the calendar that holds t.
func day(t time.Time, zone *time.Location) time.Time {
	year, month, on := t.In(zone).Date()
	return time.Date(year, month, on, 0, 0, 0, 0, time.UTC)
}

// startOf is the first whole hour of UTC in a day. Where midnight is at half an hour, the hour
// around it belongs to the day before, as in the series of the graph.
func startOf(on time.Time, zone *time.Location) time.Time {
	return domain.WholeHour(domain.Interval{Unit: domain.Daily, Zone: zone}.StartOf(noon(on, zone)))
}

// atWallClock is when the clocks of the zone show what wall shows in UTC: for a time that they
// skip, what they show is as much later as they are set on by.
func atWallClock(wall time.Time, zone *time.Location) time.Time {
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	return wall.Add(-offset(wall.Add(-offset(wall)))).UTC()
}
