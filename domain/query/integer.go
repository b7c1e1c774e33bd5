package query

import (
	"errors"
	"strconv"
	"strings"
)

// ParseInteger reads a decimal number whose value is a whole number of that many
// bits, however it is written: 5, 5.0, 1e3 and 0.5e1 are integers in JSON. A plus
// before it and leading zeros are accepted.
func ParseInteger(s string, bits int) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, bits); err == nil {
		return n, true
	}
	sign, digits := "", s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, digits = s[:1], s[1:]
	}
	mantissa, exponent, hasExponent := cutExponent(digits)
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !areDigits(whole) || hasPoint && !areDigits(fraction) {
		return 0, false
	}
	shift := 0
	if hasExponent {
		var err error
		// An exponent that is out of range is the outermost one, with its sign.
		if shift, err = strconv.Atoi(exponent); err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		shift = min(max(shift, -farthest), farthest)
	}
	plain, ok := shifted(strings.TrimLeft(whole+fraction, "0"), shift-len(fraction))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+plain, 10, bits)
	return n, err == nil
}

// farthest bounds exponents, so that sums of them and of numbers of digits do not
// overflow. No text has as many digits.
const farthest = 1 << 30

func cutExponent(s string) (mantissa, exponent string, found bool) {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+1:], true
}

// shifted multiplies a number in decimal, without leading zeros, by 10 to the power
// of shift. It reports false when the product is no whole number or has too many
// digits for 64 bits.
func shifted(digits string, shift int) (string, bool) {
	const most = 19
	if digits == "" {
		return "0", true
	}
	if shift < 0 {
		kept := strings.TrimRight(digits, "0")
		zeros := len(digits) - len(kept)
		if zeros < -shift {
			return "", false
		}
		return digits[:len(digits)+shift], true
	}
	if len(digits)+shift > most {
		return "", false
	}
	return digits + strings.Repeat("0", shift), true
}
