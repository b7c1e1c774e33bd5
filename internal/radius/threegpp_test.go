package radius

import "testing"

func TestNumbersAreReadHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"447700900001": "447700900001", "+447700900001": "447700900001", "00447700900001": "447700900001", "tel:+447700900001": "447700900001",
		"TEL:+447700900001;phone-context=x": "447700900001", "": "", "van-1": "", "tel:": "",
	} {
		if got := msisdn(text); got != want {
			t.Errorf("%q is read as %q, not %q", text, got, want)
		}
	}
}

func TestTheIMSIOfAUserName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"234150000000001": "234150000000001", "234150000000001@wlan.mnc015.mcc234.3gppnetwork.org": "234150000000001",
		"1234150000000001@wlan.mnc015.mcc234.3gppnetwork.org": "234150000000001", "0234150000000001@x": "234150000000001",
		"9234150000000001@x": "", "van@iot.example": "", "447700900001": "", "": "",
	} {
		if got := imsiOfUser(text); got != want {
			t.Errorf("%q is read as %q, not %q", text, got, want)
		}
	}
}

func TestRadioAccessesHaveNames(t *testing.T) {
	t.Parallel()
	for value, want := range map[byte]string{6: "EUTRAN", 8: "NB-IoT", 9: "LTE-M", 10: "NR", 77: "77"} {
		if got := (vendorAttributes{ratTypeType: {value}}).ratType(); got != want {
			t.Errorf("%d is %q, not %q", value, got, want)
		}
	}
}
