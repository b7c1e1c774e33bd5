package domain

import (
	"strings"
	"testing"
	"time"
)

func TestAUsageKeyIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, key := range []UsageKey{
		{start, "8944500000000000001", ""}, {start, "8944500000000000001", "TCP"}, {start, "a/b%2F c", "tag/with/slashes/"}, {start, "é", "%"},
	} {
		text := key.String()
		if read, err := ParseUsageKey(text); err != nil || read != key {
			t.Errorf("%s is read as %v, %v", text, read, err)
		}
		if strings.Trim(text, "!-~") != "" && strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q cannot be a trailer", text)
		}
	}
	for _, text := range []string{"", "/", "2026-11-01T00:00:00Z", "2026-11-01/8944", "2026-11-01T00:00:00Z/", "2026-11-01T00:00:00Z/a/b/c", "2026-11-01T00:00:00Z/%zz", "2026-11-01T00:00:00Z/a/%00", "2026-11-01T00:00:00Z/a/%ff"} {
		if read, err := ParseUsageKey(text); err == nil {
			t.Errorf("%q is read as %v", text, read)
		}
	}
}

func TestPartsOfAnExportCoverItsSpan(t *testing.T) {
	t.Parallel()
	for _, unit := range []Unit{Hourly, Daily, Weekly, Monthly} {
		for _, zone := range []string{"UTC", "Europe/London", "Asia/Kolkata", "America/St_Johns"} {
			by, err := NewInterval(unit, zone)
			if err != nil {
				t.Fatal(err)
			}
			export := UsageExport{Span: Range{Start: time.Date(2026, 10, 3, 5, 0, 0, 0, time.UTC), End: time.Date(2027, 4, 2, 7, 0, 0, 0, time.UTC)}, By: by}
			at := export.Span.Start
			parts := export.Parts()
			for i, part := range parts {
				if !part.Start.Equal(at) || !part.Start.Before(part.End) || part.Start.Truncate(time.Hour) != part.Start {
					t.Fatalf("%s %s: part %d is from %v to %v, after %v", unit, zone, i, part.Start, part.End, at)
				}
				at = part.End
			}
			if !at.Equal(export.Span.End) {
				t.Errorf("%s %s: the last part ends at %v", unit, zone, at)
			}
			export.After = UsageKey{Start: by.StartOf(parts[2].Start), PhysicalID: "1"}
			if rest := export.Parts(); len(rest) != len(parts)-2 {
				t.Errorf("%s %s: after the third part begins there are %d of %d", unit, zone, len(rest), len(parts))
			}
		}
	}
}
