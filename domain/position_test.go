package domain_test

import (
	"fmt"
	"testing"

	"simgraph/domain"
)

func TestPositionsAreWrittenAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]domain.Position{"0/0": 0, "16/B374D848": 0x16_B374D848, "FFFFFFFF/FFFFFFFF": 1<<64 - 1} {
		got, err := domain.ParsePosition(text)
		if err != nil || got != want || fmt.Sprint(got) != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "/", "1/", "1/2/3", "100000000/0", "-1/0", "g/0"} {
		if got, err := domain.ParsePosition(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
