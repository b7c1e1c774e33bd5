package domain

import (
	"strings"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

const keyLayout = "2006-01-02T15:04:05-07:00"

func TestParseRange(t *testing.T) {
	for _, c := range []struct{ name, start, end, from, to string }{
		{"whole hours stay", "2026-11-01T10:00:00+00:00", "2026-11-01T12:00:00+00:00", "2026-11-01T10:00:00Z", "2026-11-01T12:00:00Z"},
		{"hours are snapped outward", "2026-11-01T10:59:59.9Z", "2026-11-01T12:00:00.000001Z", "2026-11-01T10:00:00Z", "2026-11-01T13:00:00Z"},
		{"a range within an hour is that hour", "2026-11-01T10:10:00Z", "2026-11-01T10:20:00Z", "2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z"},
		{"no offset is UTC", "2026-11-01T10:00:00", "2026-11-01T12:00:00", "2026-11-01T10:00:00Z", "2026-11-01T12:00:00Z"},
		{"an offset without colon", "2026-11-01T10:00:00+0100", "2026-11-01T12:00:00-0100", "2026-11-01T09:00:00Z", "2026-11-01T13:00:00Z"},
		{"a plus that became a blank", "2026-11-01T10:00:00 01:00", "2026-11-01T12:00:00 01:00", "2026-11-01T09:00:00Z", "2026-11-01T11:00:00Z"},
		{"half-hour offsets are snapped to UTC hours", "2026-11-01T10:00:00+05:30", "2026-11-01T12:00:00+05:30", "2026-11-01T04:00:00Z", "2026-11-01T07:00:00Z"},
		{"a date as end includes that day", "2026-11-01", "2026-11-01", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"},
		{"date and date-time mix", "2026-11-01T23:30:00Z", "2026-11-01", "2026-11-01T23:00:00Z", "2026-11-02T00:00:00Z"},
		{"a date counts in UTC whatever the other offset", "2026-11-01T00:00:00+02:00", "2026-11-01", "2026-10-31T22:00:00Z", "2026-11-02T00:00:00Z"},
		{"equal bounds are empty", "2026-11-01T10:30:00Z", "2026-11-01T11:30:00+01:00", "2026-11-01T10:00:00Z", "2026-11-01T10:00:00Z"},
		{"a date and its own start are empty", "2026-11-01", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"},
		{"100,000 hours measured before snapping", "2025-01-01T00:30:00Z", "2036-05-29T16:30:00Z", "2025-01-01T00:00:00Z", "2036-05-29T17:00:00Z"},
		{"400 dates", "2025-01-01", "2026-02-04", "2025-01-01T00:00:00Z", "2026-02-05T00:00:00Z"},
		{"the first year", "1970-01-01", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"},
		{"the last year", "2200-12-31", "2200-12-31", "2200-12-31T00:00:00Z", "2201-01-01T00:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseRange(c.start, c.end)
			fatal.If(t, err)
			if got := r.Start.Format(time.RFC3339Nano); got != c.from {
				t.Errorf("start %s, want %s", got, c.from)
			}
			if got := r.End.Format(time.RFC3339Nano); got != c.to {
				t.Errorf("end %s, want %s", got, c.to)
			}
		})
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, c := range []struct{ start, end, field, message string }{
		{"", "2026-11-01", "startDate", "startDate is missing"},
		{"2026-11-01", "", "endDate", "endDate is missing"},
		{"yesterday", "2026-11-01", "startDate", "a date (2006-01-31) or date-time"},
		{"2026-11-01", "2026-11-31", "endDate", "no such day"},
		{"2026-11-01 01:00", "2026-11-02", "startDate", "a date (2006-01-31) or date-time"},
		{"2026-11-01T10:00:00Z01:00", "2026-11-02", "startDate", "the offset is not Z or ±hh:mm"},
		{"2026-11-01T10:00:00+25:00", "2026-11-02", "startDate", "no such offset"},
		{"2026-11-01T10:00:01Z", "2026-11-01T10:00:00Z", "startDate", "startDate is after endDate"},
		{"2026-11-02", "2026-11-01", "startDate", "startDate is after endDate"},
		{"2026-11-02T00:00:01Z", "2026-11-01", "startDate", "startDate is after endDate"},
		{"2026-11-01", "2026-10-31T23:59:59Z", "startDate", "startDate is after endDate"},
		{"2025-01-01T00:00:00Z", "2036-05-29T16:00:01Z", "endDate", "longer than 100000 hours"},
		{"2025-01-01", "2036-05-29", "endDate", "longer than 100000 hours"},
		{"1970-01-01", "2200-12-31", "endDate", "longer than 100000 hours"},
		{"1969-12-31", "1970-01-01", "startDate", "years go from 1970 to 2200"},
		{"1970-01-01T00:00:00+01:00", "1970-01-01", "startDate", "years go from 1970 to 2200"},
		{"2200-12-31", "2201-01-01", "endDate", "years go from 1970 to 2200"},
	} {
		_, err := ParseRange(c.start, c.end)
		invalid(t, err, c.field, c.message)
	}
}

func TestKeysAreInTheOffsetOfStartDate(t *testing.T) {
	for start, want := range map[string]string{
		"2026-11-01":                "2026-11-01T00:00:00+00:00",
		"2026-11-01T00:00:00":       "2026-11-01T00:00:00+00:00",
		"2026-11-01T00:00:00Z":      "2026-11-01T00:00:00+00:00",
		"2026-11-01T05:00:00+05:30": "2026-11-01T04:30:00+05:30", // the UTC hour ends in :30 there
		"2026-11-01T05:30:00+0530":  "2026-11-01T05:30:00+05:30",
		"2026-10-31T20:00:00-04:00": "2026-10-31T20:00:00-04:00",
		"2026-11-01T01:00:00 01:00": "2026-11-01T01:00:00+01:00",
	} {
		r, err := ParseRange(start, "2026-11-02T00:00:00-12:00")
		if err != nil || r.Key(r.Start) != want {
			t.Errorf("%s: %s, %v; want %s", start, r.Key(r.Start), err, want)
		}
	}
}

func TestParseInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-01":                            "2026-11-01T00:00:00Z",
		"2026-11-01T10:00:00":                   "2026-11-01T10:00:00Z",
		"2026-11-01T10:00:00+05:30":             "2026-11-01T04:30:00Z",
		"2026-11-01T10:00:00.123456789-0100":    "2026-11-01T11:00:00.123456Z",
		"9999-12-31T23:59:59Z":                  "9999-12-31T23:59:59Z",
		"0001-01-01T00:00:00.000000000001Z":     "",
		"2026-11-01T10:00:00 01:00":             "",
		"2026-11-01T10:00:00+01:00[Etc/Berlin]": "",
		"":                                      "",
	} {
		got, err := ParseInstant("startedAt", text)
		if want == "" {
			invalid(t, err, "startedAt", "startedAt: a date (2006-01-31) or date-time")
		} else if err != nil || got.Location() != time.UTC || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
}

// invalid demands an error of KindInvalid about the field.
func invalid(t *testing.T, err error, field, message string) {
	t.Helper()
	e, ok := AsError(err)
	if !ok || e.Kind != KindInvalid || e.Field != field || !strings.Contains(e.Message, message) {
		t.Errorf("got %#v, want %s: %s", err, field, message)
	}
}

func TestTimesOutsideASpanAreItsEnds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	span := Range{Start: at, End: at.Add(time.Hour)}
	for _, c := range [][2]time.Duration{
		{-time.Second, 0}, {0, 0}, {time.Minute, time.Minute}, {time.Hour - time.Second, time.Hour - time.Second},
		{time.Hour, time.Hour - time.Second}, {24 * time.Hour, time.Hour - time.Second},
	} {
		if got := span.Within(at.Add(c[0])); !got.Equal(at.Add(c[1])) {
			t.Errorf("%v: got %v, want %v", c[0], got.Sub(at), c[1])
		}
	}
}

func FuzzParseRange(f *testing.F) {
	f.Add("2026-11-01", "2026-11-01")
	f.Add("2026-11-01T10:00:00+05:30", "2026-11-02T10:20:30.5-0100")
	f.Add("2026-11-01T10:00:00 01:00", "2026-11-02T10:20:30")
	f.Add("2026-11-01T10:30:00Z", "2026-11-01T11:30:00+01:00")
	f.Fuzz(func(t *testing.T, start, end string) {
		r, err := ParseRange(start, end)
		if err != nil {
			if e, ok := AsError(err); !ok || e.Kind != KindInvalid || e.Field != "startDate" && e.Field != "endDate" {
				t.Fatalf("error %v", err)
			}
			return
		}
		if r.Start.Truncate(time.Hour) != r.Start || r.End.Truncate(time.Hour) != r.End || r.End.Before(r.Start) ||
			r.End.Sub(r.Start) > maxRange+2*time.Hour {
			t.Fatalf("%q to %q is %v", start, end, r)
		}
		if key, err := time.Parse(keyLayout, r.Key(r.Start)); err != nil || !key.Equal(r.Start) {
			t.Fatalf("key %s of %v: %v", r.Key(r.Start), r.Start, err)
		}
		if r.End.Sub(r.Start) > maxRange || r.End.Year() > lastRangeYear {
			return // snapping can widen a range beyond what may be requested
		}
		again, err := ParseRange(r.Key(r.Start), r.Key(r.End))
		if err != nil || again.Start != r.Start || again.End != r.End {
			t.Fatalf("%v parses back as %v, %v", r, again, err)
		}
	})
}
