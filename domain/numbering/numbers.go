// Package numbering has the numbering plans of countries.
package numbering

import (
	_ "embed" // of numbers.txt
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxMSISDN is the longest number of ITU-T E.164, and minMSISDN the shortest that one of a
// country can be.
const (
	maxMSISDN = 15
	minMSISDN = 6
)

// numberLines are the numbering plans of countries: the code of ISO 3166-1, the calling
// code, the trunk prefix (- for none) and the lengths of mobile numbers without both. They
// were taken from the metadata of libphonenumber, 9.0.
//
//go:embed numbers.txt
var numberLines string

// plan is how numbers of a country are written.
type plan struct {
	country, calling, trunk string
	// mobile are the lengths of mobile numbers, without calling code and trunk prefix.
	mobile []int
}

// all are those of all countries.
var all = sync.OnceValue(func() []plan {
	var plans []plan
	for line := range strings.Lines(numberLines) {
		columns := strings.Fields(line)
		of := plan{country: columns[0], calling: columns[1], trunk: strings.TrimPrefix(columns[2], "-")}
		for length := range strings.SplitSeq(columns[3], ",") {
			n, _ := strconv.Atoi(length) // a test reads them all
			of.mobile = append(of.mobile, n)
		}
		plans = append(plans, of)
	}
	return plans
})

// isNational reports whether the digits may be a mobile number of the country without
// its calling code.
func (p *plan) isNational(digits string) bool { return slices.Contains(p.mobile, len(digits)) }

// isInternational reports whether they may be one with it.
func (p *plan) isInternational(digits string) bool {
	rest, ok := strings.CutPrefix(digits, p.calling)
	return ok && p.isNational(rest)
}

// MSISDN returns the international number of one that is written as in the country, by its
// code of ISO 3166-1, in digits. One that begins with the trunk prefix is national. One without it may be
// international as well: it is national only where it has the length of a mobile number of
// the country, and is no mobile number of any. Others stay as they are, as do those of a
// country that there is not.
func MSISDN(country, digits string) string {
	plans := all()
	at := slices.IndexFunc(plans, func(p plan) bool { return p.country == country })
	if at < 0 {
		return digits
	}
	own := &plans[at]
	if rest, ok := strings.CutPrefix(digits, own.trunk); ok && own.trunk != "" && (own.trunk[0] == '0' || own.isNational(rest)) {
		if n := len(own.calling) + len(rest); n < minMSISDN || n > maxMSISDN {
			return digits
		}
		return own.calling + rest
	}
	isMobile := func(p plan) bool { return p.isInternational(digits) }
	if !own.isNational(digits) || slices.ContainsFunc(plans, isMobile) {
		return digits
	}
	return own.calling + digits
}
