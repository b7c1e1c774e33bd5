package domain_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

func FuzzInterval(f *testing.F) {
	for _, zone := range []string{"UTC", "", "Local", "Africa/Cairo", "America/St_Johns", "Pacific/Apia", "../../etc/passwd", "/etc/localtime", "Europe/London\x00", "..", "europe/london"} {
		f.Add(zone, int64(1_795_000_000), "DAY")
		f.Add(zone, int64(1_325_203_200), "MONTH")
	}
	f.Fuzz(func(t *testing.T, zone string, second int64, unit string) {
		by, err := domain.NewInterval(domain.Unit(unit), zone)
		if err != nil {
			return
		}
		if strings.Contains(zone, "..") || strings.HasPrefix(zone, "/") {
			t.Errorf("%q is a time zone", zone)
		}
		at := time.Unix(second%(4<<32), 0)
		if start := by.StartOf(at); start.After(at) || !by.Next(start).After(at) {
			t.Errorf("%v in %q by %s begins at %v and ends at %v", at, zone, unit, start, by.Next(start))
		}
	})
}

func FuzzCheckEmail(f *testing.F) {
	for _, text := range []string{
		"ops@example.com", `"a b"@example.com`, "<ops@example.com>", "ops@example.com\r\nBcc: x@y.z", "Ops <ops@example.com>", "a@b(c)", "a@[127.0.0.1]", "@", "ü@example.com",
		`"a\"b"@x.y`, "a@b,c@d", " a@b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if domain.CheckEmail("email", text) == nil && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q is an address", text)
		}
	})
}
