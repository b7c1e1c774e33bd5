package scalar_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"simgraph/graph/scalar"
)

func FuzzBigInt(f *testing.F) {
	for _, text := range []string{"0", "-0", "00", "+1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e3", " 1", "0x1", "1_0", "", "5.0", "0.5e-9223372036854775808", "1e9223372036854775807", "1e-9223372036854775808", "1e400000000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := scalar.UnmarshalBigInt(text)
		if printed := string(scalar.AppendBigInt(nil, n)); err == nil && printed != `"`+text+`"` {
			t.Errorf("%q is read as %s", text, printed)
		}
		if !json.Valid([]byte(text)) {
			return
		}
		n, err = scalar.UnmarshalBigInt(json.Number(text))
		if _, exponent, _ := strings.Cut(strings.ToLower(text), "e"); len(exponent) > 4 || len(text) > 30 {
			return // no exact number of that size is made here
		}
		exact, isNumber := new(big.Rat).SetString(text)
		if !isNumber {
			return
		}
		if fits := exact.IsInt() && exact.Num().IsInt64(); fits != (err == nil) || fits && exact.Num().Int64() != n {
			t.Errorf("the number %s is read as %d, %v", text, n, err)
		}
	})
}

func FuzzDateTime(f *testing.F) {
	for _, text := range []string{
		"2026-11-20T12:00:00Z", "2026-11-20T12:00:00.5+05:30", "2026-11-20T1:00:00Z", "2026-11-20T12:00:00,5Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999-23:59",
		"2026-02-30T00:00:00Z", "2026-11-20 12:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T23:59:60Z", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := scalar.UnmarshalDateTime(text)
		if err != nil {
			return
		}
		var printed string
		if err := json.Unmarshal(scalar.AppendDateTime(nil, at), &printed); err != nil {
			t.Fatalf("%q is written so that nothing reads it: %v", text, err)
		}
		if again, err := scalar.UnmarshalDateTime(printed); err != nil || !again.Equal(at) {
			t.Errorf("%q is written %s, and read as %v, %v", text, printed, again, err)
		}
	})
}
