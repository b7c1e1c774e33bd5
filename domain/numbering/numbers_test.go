package numbering

import (
	"os"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

func TestNumberingPlansAreSound(t *testing.T) {
	t.Parallel()
	for _, p := range all() {
		isNumber := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
		if len(p.country) != 2 || p.calling == "" || !isNumber(p.calling+p.trunk) || len(p.mobile) == 0 {
			t.Errorf("%+v is none", p)
		}
		for _, length := range p.mobile {
			if length < 4 || length+len(p.calling) > maxMSISDN {
				t.Errorf("numbers of %s have %d digits", p.country, length)
			}
		}
	}
}

func TestNationalNumbersAreMadeInternational(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ country, number, want string }{
		{"GB", "07700900001", "447700900001"}, {"GB", "447700900001", "447700900001"}, {"GB", "7400900001", "447400900001"},
		{"DE", "015112345678", "4915112345678"}, {"DE", "4915112345678", "4915112345678"}, {"DE", "447700900001", "447700900001"},
		{"DE", "15112345678", "15112345678"}, // a number of North America, as likely
		{"FR", "0700123456789", "33700123456789"}, {"FR", "700123456", "33700123456"},
		{"US", "2125551234", "12125551234"}, {"US", "12125551234", "12125551234"},
		{"ES", "612345678", "34612345678"}, {"ES", "34612345678", "34612345678"}, {"ES", "447700900001", "447700900001"},
		{"IT", "3934712345", "393934712345"}, {"IT", "393471234567", "393471234567"},
		{"RU", "89161234567", "79161234567"}, {"RU", "79161234567", "79161234567"}, {"RU", "8916123", "8916123"},
		{"HU", "06201234567", "36201234567"}, {"NO", "40612345", "4740612345"},
		{"GB", "0", "0"}, {"GB", "01234567890123456", "01234567890123456"}, {"GB", "", ""}, {"XX", "07700900001", "07700900001"}, {"", "07700900001", "07700900001"},
	} {
		if got := MSISDN(test.country, test.number); got != test.want {
			t.Errorf("%s in %s is %s, not %s", test.number, test.country, got, test.want)
		}
	}
}

// A number that is international already stays as it is, whatever the country.
func TestInternationalNumbersStay(t *testing.T) {
	t.Parallel()
	for _, p := range all() {
		for _, length := range p.mobile {
			number := p.calling + strings.Repeat("7", length)
			for _, in := range all() {
				// That of a country with the trunk prefix 8 may begin as one of East Asia.
				if got := MSISDN(in.country, number); got != number && !strings.HasPrefix(number, "8") {
					t.Errorf("%s of %s is %s in %s", number, p.country, got, in.country)
				}
			}
		}
	}
}

// What a company can have is a country of ../countries.txt.
func TestEveryCountryHasANumberingPlan(t *testing.T) {
	t.Parallel()
	countries, err := os.ReadFile("../countries.txt")
	fatal.If(t, err)
	for line := range strings.Lines(string(countries)) {
		code := strings.Fields(line)[1]
		if !slices.ContainsFunc(all(), func(p plan) bool { return p.country == code }) {
			t.Errorf("%s has none", code)
		}
	}
}
