package replica

import (
	"fmt"
	"testing"
)

func TestLSNsAreWrittenAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]LSN{"0/0": 0, "16/B374D848": 0x16_B374D848, "FFFFFFFF/FFFFFFFF": 1<<64 - 1} {
		got, err := ParseLSN(text)
		if err != nil || got != want || fmt.Sprint(got) != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "/", "1/", "1/2/3", "100000000/0", "-1/0", "g/0"} {
		if got, err := ParseLSN(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func FuzzParseLSN(f *testing.F) {
	for _, text := range []string{"0/0", "16/B374D848", "ffffffff/FFFFFFFF", "1/", "/1", "1/2/3", "100000000/0", "-1/0", "0x1/1", "1_0/1", "+1/1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lsn, err := ParseLSN(text)
		if err != nil {
			return
		}
		if again, err := ParseLSN(lsn.String()); err != nil || again != lsn {
			t.Errorf("%q is %v, and then %v, %v", text, lsn, again, err)
		}
	})
}
