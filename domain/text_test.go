package domain_test

import (
	"strings"
	"testing"

	"simgraph/domain"
)

func TestTagNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fleet":                        "fleet",
		"two words":                    "two words",
		"a/b%+":                        "a/b%+",
		"Cafe\u0301":                   "Caf\u00e9",
		"...":                          "...",
		strings.Repeat("\u00e9", 255):  strings.Repeat("\u00e9", 255),
		strings.Repeat("e\u0301", 255): strings.Repeat("\u00e9", 255),
		"\U0001F69A van":               "\U0001F69A van",
	} {
		if got, err := domain.NewTagName(in); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", " ", "\t", "\u3000", ".", "..", " fleet", "fleet ", "a\x00b", "a\nb", "a\u0085b", "a\u2028b", "a\u2029b",
		"a\u202eb", "a\u200fb", "a\u2066b", "a\u200bb", "\ufeffa", "\xff", strings.Repeat("x", 256),
	} {
		_, err := domain.NewTagName(in)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid || fault.Field != "tagName" {
			t.Errorf("%q: got %v", in, err)
		}
	}
}

func TestReasonsAreOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "",
		" \n\t":                        "",
		" Ticket 4711: sold\n":         "Ticket 4711: sold",
		"Cafe\u0301":                   "Caf\u00e9",
		strings.Repeat("\u00e9", 500):  strings.Repeat("\u00e9", 500),
		strings.Repeat("e\u0301", 500): strings.Repeat("\u00e9", 500),
	} {
		if got, err := domain.NewReason(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"one\ntwo", "a\x00b", "a\tb", "a\u2028b", "a\u202eb", "\xff", strings.Repeat("x", 501)} {
		_, err := domain.NewReason(in)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid || fault.Field != "reason" {
			t.Errorf("%q: got %v", in, err)
		}
	}
}

func TestLengthsCountCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		check func(string) error
		fits  []string
		not   []string
	}{
		{"physicalId", domain.CheckPhysicalID, []string{"1", strings.Repeat("9", 25), strings.Repeat("é", 25)}, []string{"", strings.Repeat("9", 26), "a\x00", "\xc3"}},
		{"nickname", domain.CheckNickname, []string{"", " ", strings.Repeat("é", 256)}, []string{strings.Repeat("x", 257), "a\rb", "a\u202eb", "a\u200bb", "\xed\xa0\x80"}},
		{"name", func(s string) error { return domain.CheckName("name", s) }, []string{"x", strings.Repeat("é", 256)}, []string{"", "  ", strings.Repeat("x", 257), "a\x7f", "a\u2066", "a\u2060b"}},
	} {
		for _, text := range c.fits {
			if err := c.check(text); err != nil {
				t.Errorf("%s %q: %v", c.name, text, err)
			}
		}
		for _, text := range c.not {
			if fault, is := domain.AsError(c.check(text)); !is || fault.Kind != domain.KindInvalid || fault.Field != c.name {
				t.Errorf("%s %q passes", c.name, text)
			}
		}
	}
}

func TestOneLineHoldsNoControlsAndIsBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "van 1": "van 1", "a\r\nBcc: b": "a  Bcc: b", "a\x00\u0085b": "a  b", "a\u2028b\u2029": "a b ", "a\u202eb": "a b", "\xff": "\uFFFD",
		"éééééééééé": "éééééééééé", "ééééééééééé": "éééééééééé…",
	} {
		if got := domain.OneLine(text, 10); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestNicknamesAreInNFC(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "Cafe\u0301": "Caf\u00e9", strings.Repeat("e\u0301", 256): strings.Repeat("\u00e9", 256)} {
		if got, err := domain.NewNickname(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	if got, err := domain.NewNickname("a\u200db"); err == nil {
		t.Errorf("%q passes", got)
	}
}

// Joiners are part of the spelling in some scripts, and unseen in all others.
func TestJoinersStandWhereTheyAreSeen(t *testing.T) {
	t.Parallel()
	for text, fits := range map[string]bool{
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": true, "van 1 (\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645), \u20ac 5": true,
		"\u0646\u064e\u200c\u0645": true, "\u0915\u094d\u200d\u0937": true, "\u0915\u094d\u200c\u0937": true, "\u0dc1\u0dca\u200d\u0dbb\u0dd3 1": true,
		"a\u200cb": false, "a\u200db": false, "\u0627\u200c\u0645": false, "\u0645\u06cc\u200c": false, "\u200c": false, "\u0645\u200d\u0645": false,
		"\u0645\u06cc\u200c\u062e a\u200cb": false, "\U0001F468\u200d\U0001F469": false,
		"\u2764\ufe0f": true, "\u0600\u0661": true, "\ud55c\uae00": true,
		"so\u00adft": false, "a\u034fb": false, "\u115fa": false, "a\u180eb": false, "a\u2061b": false, "a\u206ab": false, "\u3164": false, "\uffa0": false, "a\ufff9b": false,
		"a\U000E0041b": false, "a\U000E0101b": true, "a\U0001D173b": false,
	} {
		if err := domain.CheckNickname(text); (err == nil) != fits {
			t.Errorf("%+q: %v", text, err)
		}
	}
}

func TestScopesAreReadInBothWritings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "VIEW_SUBSCRIBER": "VIEW_SUBSCRIBER", " View  Subscriber record usage VIEW_SUBSCRIBER": "VIEW_SUBSCRIBER RECORD_USAGE VIEW_SUBSCRIBER",
		"Update the Details of a Subscriber": "UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",
	} {
		got, unknown := domain.ParseScopes(text)
		names := make([]string, len(got))
		for i, p := range got {
			names[i] = string(p)
		}
		if strings.Join(names, " ") != want || unknown != "" {
			t.Errorf("%q: got %v, %q", text, got, unknown)
		}
	}
	if got, unknown := domain.ParseScopes("RECORD_USAGE View Everything"); got != nil || unknown != "View" {
		t.Errorf("got %v, %q", got, unknown)
	}
}

func TestPermissionsAreReadInBothWritings(t *testing.T) {
	t.Parallel()
	all := domain.AllPermissions()
	if len(all) != 11 {
		t.Errorf("%d permissions", len(all))
	}
	for _, p := range all {
		for _, text := range []string{string(p), p.Label(), strings.ToLower(p.Label())} {
			if got, err := domain.ParsePermission(text); err != nil || got != p {
				t.Errorf("%q: got %q, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{"", "view_subscriber", "Root"} {
		if _, err := domain.ParsePermission(text); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}
