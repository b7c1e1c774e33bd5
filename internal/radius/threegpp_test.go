package radius

import "testing"

func TestRadioAccessesHaveNames(t *testing.T) {
	t.Parallel()
	for value, want := range map[byte]string{6: "EUTRAN", 8: "NB-IoT", 9: "LTE-M", 10: "NR", 77: "77"} {
		if got := (vendorAttributes{ratTypeType: {value}}).ratType(); got != want {
			t.Errorf("%d is %q, not %q", value, got, want)
		}
	}
}
