package source_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simgraph/domain/source"
)

// profile is one that breaks no rule.
func profile(fields ...source.Field) source.Profile {
	p := source.Profile{Name: "gateway", Format: source.NDJSON}.WithDefaults()
	if fields == nil {
		fields = []source.Field{source.MSISDN, source.Volume, source.EndedAt}
	}
	for _, f := range fields {
		p.Fields = append(p.Fields, source.FieldExpression{Field: f, Expression: "r.x"})
	}
	return p
}

func TestAProfileThatBreaksARuleIsRefusedByTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(p *source.Profile)
		want   string
	}{
		{"nothing", func(*source.Profile) {}, ""},
		{"no name", func(p *source.Profile) { p.Name = "" }, "name"},
		{"a description of 1000 bytes", func(p *source.Profile) { p.Description = strings.Repeat("x", 1000) }, ""},
		{"a description of 1001 bytes", func(p *source.Profile) { p.Description = strings.Repeat("x", 1001) }, "description"},
		{"a long path to the records", func(p *source.Profile) { p.Records = strings.Repeat("x", 257) }, "records"},
		{"a long condition", func(p *source.Profile) { p.Skip = strings.Repeat("x", 1001) }, "skip"},
		{"no format", func(p *source.Profile) { p.Format = "" }, "format"},
		{"a format in small letters", func(p *source.Profile) { p.Format = "csv" }, "format"},
		{"no counters", func(p *source.Profile) { p.Counters = "" }, "counters"},
		{"no unit", func(p *source.Profile) { p.Unit = "GB" }, "unit"},
		{"no direction", func(p *source.Profile) { p.Direction = "BOTH" }, "direction"},
		{"no zone", func(p *source.Profile) { p.TimeZone = "Mars/Olympus" }, "timeZone"},
		{"a semicolon", func(p *source.Profile) { p.Delimiter = ";" }, ""},
		{"two characters", func(p *source.Profile) { p.Delimiter = ";;" }, "delimiter"},
		{"a quote", func(p *source.Profile) { p.Delimiter = `"` }, "delimiter"},
		{"the end of a line", func(p *source.Profile) { p.Delimiter = "\n" }, "delimiter"},
		{"a carriage return", func(p *source.Profile) { p.Delimiter = "\r" }, "delimiter"},
		{"8 formats of dates", func(p *source.Profile) { p.DateFormats = make([]string, 8) }, ""},
		{"9 formats of dates", func(p *source.Profile) { p.DateFormats = make([]string, 9) }, "dateFormats"},
		{"41 fields", func(p *source.Profile) { p.Fields = make([]source.FieldExpression, 41) }, "fields"},
		{"an unknown field", func(p *source.Profile) { p.Fields[1].Field = "COLOUR" }, "fields[1]"},
		{"a field twice", func(p *source.Profile) { p.Fields[2].Field = source.MSISDN }, "fields[2]"},
		{"no expression", func(p *source.Profile) { p.Fields[0].Expression = "" }, "fields[0]"},
		{"an expression of 1000 bytes", func(p *source.Profile) { p.Fields[0].Expression = strings.Repeat("x", 1000) }, ""},
		{"an expression of 1001 bytes", func(p *source.Profile) { p.Fields[0].Expression = strings.Repeat("x", 1001) }, "fields[0]"},
	} {
		p := profile()
		c.change(&p)
		if got := placeOf(p.Check()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A profile reads a subscriber, bytes and a time; which fields go together depends on what is counted.
func TestTheFieldsOfAProfileGoTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfDistinct(rapid.SampledFrom(source.Fields), func(f source.Field) source.Field { return f }).Draw(t, "fields")
		p := profile(append([]source.Field{}, drawn...)...)
		p.Counters = rapid.SampledFrom([]source.Counters{source.Delta, source.Cumulative, source.DayTotal}).Draw(t, "counters")
		has := func(fields ...source.Field) bool {
			return slices.ContainsFunc(fields, func(f source.Field) bool { return slices.Contains(drawn, f) })
		}
		ofDirections := has(source.MobileOriginated, source.MobileTerminated)
		fits := has(source.PhysicalID, source.IMSI, source.MSISDN, source.SubscriberID) && has(source.Volume) != ofDirections
		switch p.Counters {
		case source.DayTotal:
			fits = fits && has(source.Day) && !has(source.SessionID, source.StartedAt, source.EndedAt)
		case source.Cumulative:
			fits = fits && has(source.SessionID)
			fallthrough
		default:
			fits = fits && !has(source.Day) && has(source.StartedAt, source.EndedAt)
		}
		if got := placeOf(p.Check()); (got == "") != fits || got != "" && got != "fields" {
			t.Fatalf("%s with %v: %q", p.Counters, drawn, got)
		}
	})
}

func TestWhatAProfileLeavesOutIsFilled(t *testing.T) {
	t.Parallel()
	p := source.Profile{}.WithDefaults()
	if p.Counters != source.Delta || p.Unit != source.Bytes || p.Direction != source.Terminated || p.TimeZone != "UTC" || !p.IsReady() {
		t.Errorf("%+v", p)
	}
	full := source.Profile{Counters: source.Cumulative, Unit: source.MebiBytes, Direction: source.Originated, TimeZone: "Europe/Berlin", Version: 1}
	if p := full.WithDefaults(); p.Counters != full.Counters || p.Unit != full.Unit || p.Direction != full.Direction || p.TimeZone != full.TimeZone || p.IsReady() {
		t.Errorf("%+v", p)
	}
}

func TestTheBytesOfAUnit(t *testing.T) {
	t.Parallel()
	for unit, want := range map[source.Unit]float64{
		source.Bytes: 1, source.KiloBytes: 1000, source.KibiBytes: 1024, source.MegaBytes: 1_000_000, source.MebiBytes: 1_048_576,
	} {
		if got := unit.Of(); got != want {
			t.Errorf("%s has %f bytes", unit, got)
		}
	}
}
