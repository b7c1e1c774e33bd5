package ascii_test

import (
	"strings"
	"testing"

	"simgraph/domain/ascii"
)

func TestOnlyTheLettersOfASCIIAreFolded(t *testing.T) {
	t.Parallel()
	for r := range rune(0x110000) {
		text := string(r)
		wantLower, wantUpper := text, text
		if r < 0x80 {
			wantLower, wantUpper = strings.ToLower(text), strings.ToUpper(text)
		}
		if got := ascii.Lower("a" + text); got != "a"+wantLower {
			t.Fatalf("%q in lower case is %q", text, got)
		}
		if got := ascii.Upper("A" + text); got != "A"+wantUpper {
			t.Fatalf("%q in upper case is %q", text, got)
		}
		if equal := ascii.EqualFold(text, wantLower) && ascii.EqualFold(wantUpper, text); !equal {
			t.Fatalf("%q is not equal to itself", text)
		}
	}
	for _, pair := range [][2]string{{"\u212a", "k"}, {"\u212a", "K"}, {"\u0130", "i"}, {"\u0131", "I"}, {"\u017f", "s"}, {"é", "É"}, {"a", "ab"}, {"@", "`"}} {
		if ascii.EqualFold(pair[0], pair[1]) {
			t.Errorf("%q counts as %q", pair[0], pair[1])
		}
	}
}
