package query

import (
	"math/big"
	"testing"
)

func TestIntegersMayBeWrittenAsAnyDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"5": 5, "5.0": 5, "-5.00": -5, "1e3": 1000, "2E1": 20, "0.5e1": 5, "1.25e2": 125, "100e-2": 1, "0e999999999": 0, "0.0": 0, "-0": 0, "0e400000000": 0,
		"0e9223372036854775807": 0, "0.0e-9223372036854775808": 0, "0e99999999999999999999": 0, "-0e-99999999999999999999": 0, "-0.0": 0,
		"+7": 7, "007.0": 7, "9223372036854775807": 1<<63 - 1, "9223372036854775807.0": 1<<63 - 1, "-9.223372036854775808e18": -1 << 63,
	} {
		if got, ok := ParseInteger(text, 64); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "-", ".", "5.", ".5", "5.5", "1e-1", "1e", "e3", "1e3.0", "1e19", "9223372036854775808", "9223372036854775808.0",
		"1e400000000", "-1e400000000", "1e-400000000", "1e1073741824", "1e2147483647", "1e2147483648", "1e-2147483648", "1e-2147483649",
		"1e9223372036854775807", "12e9223372036854775806", "1e9223372036854775808", "1e-9223372036854775807", "1e-9223372036854775808", "1e-9223372036854775809",
		"0.5e-9223372036854775808", "1.0e-9223372036854775808", "10.00e9223372036854775807", "1e99999999999999999999", "1e-99999999999999999999", "0e", "0e+-1", "0e1.0",
		"0x10", "1_0", "--1", "+-1", "1e0x1", "Inf", "NaN", " 1", "1 ",
	} {
		if got, ok := ParseInteger(text, 64); ok {
			t.Errorf("%s is accepted as %d", text, got)
		}
	}
	if _, ok := ParseInteger("3e9", 32); ok {
		t.Error("3e9 is accepted as an integer of 32 bits")
	}
}

// FuzzParseInteger compares with exact fractions.
func FuzzParseInteger(f *testing.F) {
	for _, text := range []string{"5.0", "1e3", "-0.001e3", "12e-2", "1e18", "9223372036854775807.00", "1e400000000", "1e9223372036854775807", "0.5e-9223372036854775808", "1e-9223372036854775808", "-0", "0e99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := ParseInteger(text, 64)
		if _, exponent, has := cutExponent(text); !ok || has && len(exponent) > 4 {
			return
		}
		if exact, is := new(big.Rat).SetString(text); !is || !exact.IsInt() || exact.Num().Int64() != got {
			t.Fatalf("%q is read as %d, and is %v", text, got, exact)
		}
	})
}
