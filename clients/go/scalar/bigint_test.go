package scalar_test

import (
	"encoding/json"
	"math"
	"testing"

	"simgraph/clients/go/scalar"
)

func TestNumbersOf64BitsAreTextsOfDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]scalar.BigInt{`"0"`: 0, `"-1"`: -1, `"9007199254740993"`: 9007199254740993, `"9223372036854775807"`: math.MaxInt64, `"-9223372036854775808"`: math.MinInt64} {
		var read scalar.BigInt
		if err := json.Unmarshal([]byte(text), &read); err != nil || read != want {
			t.Errorf("%s is read as %d: %v", text, read, err)
		}
		if written, err := json.Marshal(read); err != nil || string(written) != text {
			t.Errorf("%s is written as %s: %v", text, written, err)
		}
	}
	for _, text := range []string{`1`, `""`, `"1.5"`, `"9223372036854775808"`, `"a"`} {
		var read scalar.BigInt
		if err := json.Unmarshal([]byte(text), &read); err == nil {
			t.Errorf("%s is read as %d", text, read)
		}
	}
}
