package silence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/silence"
	"simgraph/internal/fatal"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	of, err := time.LoadLocation(name)
	fatal.If(t, err)
	return of
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse("2006-01-02 15:04", text)
	fatal.If(t, err)
	return when
}

func window(t *testing.T, day time.Weekday, from, until string) silence.Window {
	t.Helper()
	w, err := silence.NewWindow(day, from, until)
	fatal.If(t, err)
	return w
}

// The hours of a window follow the clock of the company, also on the days that the clocks
// change: London's go from 01:00 to 02:00 on 29 March 2026, and from 02:00 to 01:00 on 25 October.
func TestWindowsFollowTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from, until string
		day               time.Weekday
		start, end        string
		want              string
	}{
		{"in winter", "22:00", "06:00", time.Saturday, "2026-01-01 00:00", "2026-01-14 00:00", "2026-01-03 22:00/2026-01-04 06:00, 2026-01-10 22:00/2026-01-11 06:00"},
		{"in summer", "22:00", "06:00", time.Saturday, "2026-07-01 00:00", "2026-07-08 00:00", "2026-07-04 21:00/2026-07-05 05:00"},
		{"over the change to summer", "22:00", "06:00", time.Saturday, "2026-03-28 00:00", "2026-03-30 00:00", "2026-03-28 22:00/2026-03-29 05:00"},
		{"over the change to winter", "22:00", "06:00", time.Saturday, "2026-10-24 00:00", "2026-10-26 00:00", "2026-10-24 21:00/2026-10-25 06:00"},
		{"in the hour that is skipped", "01:15", "01:45", time.Sunday, "2026-03-28 00:00", "2026-03-30 00:00", ""},
		{"from the hour that is skipped", "01:15", "03:00", time.Sunday, "2026-03-28 00:00", "2026-03-30 00:00", "2026-03-29 01:00/2026-03-29 02:00"},
		{"to the hour that is skipped", "00:30", "01:30", time.Sunday, "2026-03-28 00:00", "2026-03-30 00:00", "2026-03-29 00:30/2026-03-29 01:00"},
		{"in the hour that comes twice", "01:15", "01:45", time.Sunday, "2026-10-24 00:00", "2026-10-26 00:00", "2026-10-25 00:15/2026-10-25 01:45"},
		{"the whole day", "00:00", "00:00", time.Sunday, "2026-10-24 00:00", "2026-10-27 00:00", "2026-10-24 23:00/2026-10-26 00:00"},
		{"cut to the span", "22:00", "06:00", time.Saturday, "2026-01-03 23:00", "2026-01-04 01:00", "2026-01-03 23:00/2026-01-04 01:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			of := silence.Silence{Zone: zone(t, "Europe/London"), Spec: silence.Spec{
				StartsAt: at(t, "2026-01-01 00:00"), EndsAt: at(t, "2026-12-31 00:00"), Weekly: []silence.Window{window(t, c.day, c.from, c.until)},
			}}
			start, end := at(t, c.start), at(t, c.end)
			var got []string
			spans := of.Occurrences(start, end)
			for _, span := range spans {
				got = append(got, span.Start.Format("2006-01-02 15:04")+"/"+span.End.Format("2006-01-02 15:04"))
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("occurrences are %s, want %s", text, c.want)
			}
			for now := start; now.Before(end); now = now.Add(5 * time.Minute) {
				in := slices.ContainsFunc(spans, func(p domain.Period) bool { return !now.Before(p.Start) && now.Before(p.End) })
				if of.Covers(now) != in {
					t.Errorf("%s: covered is %v, and in an occurrence %v", now, of.Covers(now), in)
				}
			}
		})
	}
}

// Every hour of a year is covered where the windows are all the days of the week, in zones
// whose clocks change at midnight, too.
func TestAWholeWeekCoversAYear(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/London", "America/Sao_Paulo", "America/Santiago", "Asia/Beirut", "Australia/Lord_Howe"} {
		var week []silence.Window
		for day := time.Sunday; day <= time.Saturday; day++ {
			week = append(week, window(t, day, "00:00", "00:00"))
		}
		start := at(t, "2018-01-01 00:00")
		of := silence.Silence{Zone: zone(t, name), Spec: silence.Spec{StartsAt: start, EndsAt: start.AddDate(1, 0, 0), Weekly: week}}
		spans := of.Occurrences(start.AddDate(-1, 0, 0), start.AddDate(2, 0, 0))
		if got, want := fmt.Sprint(spans), fmt.Sprint([]domain.Period{{Start: of.StartsAt, End: of.EndsAt}}); got != want {
			t.Errorf("%s: %s", name, got)
		}
		for now := start; now.Before(of.EndsAt); now = now.Add(15 * time.Minute) {
			if !of.Covers(now) {
				t.Fatalf("%s: %s is not covered", name, now)
			}
		}
	}
}

func TestASilenceEnds(t *testing.T) {
	t.Parallel()
	start := at(t, "2026-06-01 00:00")
	spec := silence.Spec{Reason: "works", StartsAt: start, EndsAt: start.Add(time.Hour)}
	of := silence.Silence{Spec: spec, Zone: time.UTC}
	for after, want := range map[time.Duration]bool{-1: false, 0: true, time.Hour - 1: true, time.Hour: false} {
		if of.Covers(start.Add(after)) != want {
			t.Errorf("after %s: %v", after, !want)
		}
	}
	for field, change := range map[string]func(*silence.Spec){
		"":            func(*silence.Spec) {},
		"reason":      func(s *silence.Spec) { s.Reason = " " },
		"endsAt":      func(s *silence.Spec) { s.EndsAt = s.StartsAt },
		"endsAt ":     func(s *silence.Spec) { s.EndsAt = s.StartsAt.Add(silence.MaxSpan + 1) },
		"endsAt  ":    func(s *silence.Spec) { s.StartsAt, s.EndsAt = start.Add(-time.Hour), start },
		"weekly":      func(s *silence.Spec) { s.Weekly = make([]silence.Window, 2) },
		"weekly ":     func(s *silence.Spec) { s.Weekly = make([]silence.Window, silence.MaxWindows+1) },
		"tagNames":    func(s *silence.Spec) { s.TagNames = []string{" "} },
		"physicalIds": func(s *silence.Spec) { s.PhysicalIDs = make([]string, silence.MaxMatches+1) },
	} {
		changed := spec
		change(&changed)
		err := changed.Check(start)
		if refused, is := domain.AsError(err); err != nil && (!is || refused.Field != strings.TrimSpace(field)) || (err == nil) != (field == "") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestTimesOfDayAreStrict(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1:00", "24:00", "01:60", "01:00:00", "0100", " 01:00"} {
		if w, err := silence.NewWindow(time.Monday, text, "02:00"); err == nil {
			t.Errorf("%q is %v", text, w)
		}
		if w, err := silence.NewWindow(time.Monday, "02:00", text); err == nil {
			t.Errorf("%q is %v", text, w)
		}
	}
	if w := window(t, time.Monday, "00:05", "23:59"); w.From() != "00:05" || w.Until() != "23:59" || w.String() != "Monday 00:05-23:59" {
		t.Error(w)
	}
}
