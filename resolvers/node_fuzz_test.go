package resolvers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzGlobalID(f *testing.F) {
	for kind := range nodeTypes {
		f.Add(globalID(kind, "8944500308230000017"))
	}
	for _, text := range []string{"", "*", "R3JvdXA6MQ==", "R3JvdXA6MR", "R3JvdXA", globalID("Group", "a\x00b"), globalID("Group", "\xff"), globalID("Query", "1")} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kind, of, known := parseGlobalID(text)
		if !known {
			return
		}
		if !utf8.ValidString(of) || strings.ContainsRune(of, 0) {
			t.Errorf("%q holds %q", text, of)
		}
		if again, same, known := parseGlobalID(globalID(kind, of)); !known || again != kind || same != of {
			t.Errorf("%q is %s %q, and then %s %q, %v", text, kind, of, again, same, known)
		}
	})
}
