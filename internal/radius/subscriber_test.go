package radius

import (
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"simgraph/domain"
)

func TestNumbersAreReadHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"447700900001": "447700900001", "+447700900001": "447700900001", "00447700900001": "447700900001", "tel:+447700900001": "447700900001",
		"TEL:+447700900001;phone-context=x": "447700900001", "": "", "van-1": "", "tel:": "",
		"447700900001234": "447700900001234", "00447700900001234": "447700900001234", "4477009000012345": "", "8944500102030405067": "",
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

// A request names one subscriber, by what can be one thing only. A number of 15 digits
// is an IMSI where another attribute says so.
func TestWhomARequestIsAbout(t *testing.T) {
	t.Parallel()
	const imsi, card = "234150000000001", "8944500102030405067"
	for name, test := range map[string]struct {
		imsi, network, calling, user string
		want                         subscriber
		reason                       string
	}{
		"an IMSI and a number":                       {imsi, "", "+447700900001", "x", subscriber{imsi: imsi, msisdn: "447700900001"}, ""},
		"an IMSI of the network":                     {imsi, "23415", "447700900001", "", subscriber{imsi: imsi, msisdn: "447700900001"}, ""},
		"an IMSI of the network with 0":              {imsi, "234015", "", "", subscriber{imsi: imsi}, ""},
		"an IMSI of another network":                 {imsi, "26201", "447700900001", "", subscriber{}, otherNetwork},
		"a network that cannot be read":              {imsi, "2341", "", "", subscriber{imsi: imsi}, ""},
		"an IMSI twice":                              {imsi, "", imsi, "", subscriber{imsi: imsi}, ""},
		"an IMSI and a card":                         {imsi, "", card, "", subscriber{imsi: imsi}, ""},
		"a number":                                   {"", "", "00447700900001", imsi, subscriber{msisdn: "447700900001"}, ""},
		"15 digits alone":                            {"", "", imsi, "", subscriber{msisdn: imsi}, ""},
		"15 digits, and another user":                {"", "", imsi, "234150000000002", subscriber{msisdn: imsi}, ""},
		"15 digits with +":                           {"", "23415", "+" + imsi, imsi, subscriber{msisdn: imsi}, ""},
		"15 digits as tel:":                          {"", "23415", "tel:" + imsi, imsi, subscriber{msisdn: imsi}, ""},
		"15 digits of the network":                   {"", "23415", imsi, "", subscriber{imsi: imsi}, ""},
		"15 digits of another network":               {"", "26201", imsi, imsi, subscriber{msisdn: imsi}, ""},
		"15 digits that are the user's":              {"", "", imsi, imsi + "@iot.example", subscriber{imsi: imsi}, ""},
		"15 digits that are the identity":            {"", "", imsi, "1" + imsi + "@iot.example", subscriber{imsi: imsi}, ""},
		"15 digits of a global number that are also": {"", "", "883120000000001", "883120000000001", subscriber{msisdn: "883120000000001"}, ""},
		"a card":                        {"", "", card, "", subscriber{iccid: card}, ""},
		"a card of 20 digits":           {"", "", card + "8", "x@y", subscriber{iccid: card + "8"}, ""},
		"a card that is filled":         {"", "", card + "F", "", subscriber{iccid: card}, ""},
		"a card comes before the user":  {"", "", card, imsi, subscriber{iccid: card}, ""},
		"19 digits that are no card":    {"", "", "1944500102030405067", imsi, subscriber{imsi: imsi}, ""},
		"a user beside another text":    {"", "", "00-11-22-33-44-55", imsi + "@iot.example", subscriber{imsi: imsi}, ""},
		"a user of the network":         {"", "23415", "", "0" + imsi + "@iot.example", subscriber{imsi: imsi}, ""},
		"a user of another network":     {"", "26201", "", imsi, subscriber{}, noSubscriber},
		"a card in the user's name":     {"", "", "van", card + "@iot.example", subscriber{iccid: card}, ""},
		"a number in the user's name":   {"", "", "", "447700900001", subscriber{}, noSubscriber},
		"21 digits":                     {"", "", card + "12", "", subscriber{}, noSubscriber},
		"nothing":                       {"", "", "", "", subscriber{}, noSubscriber},
		"texts":                         {"van", "", "van", "van@iot.example", subscriber{}, noSubscriber},
		"a network and nobody of it":    {"", "23415", "", "", subscriber{}, noSubscriber},
		"a short number of the network": {"", "23415", "23415", "", subscriber{msisdn: "23415"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := readOf(test.imsi, test.network, test.calling, test.user)
			if a.Unusable != test.reason || (a.Found != "") != (test.reason != "" && test.imsi+test.network+test.calling+test.user != "") {
				t.Errorf("unusable since %q, found %q", a.Unusable, a.Found)
			}
			got := subscriber{a.Record.Report.IMSI, a.Record.Report.MSISDN, a.Record.PhysicalID}
			if got != test.want {
				t.Errorf("it is about %+v, not %+v", got, test.want)
			}
		})
	}
}

// readOf reads a report that names its subscriber so.
func readOf(imsi, network, calling, user string) domain.Accounting {
	return (&request{Packet: named(imsi, network, calling, user)}).read(time.Now())
}

func named(imsi, network, calling, user string) *radius.Packet {
	now := time.Now()
	r := Report{Event: domain.SessionUpdated, NAS: "pgw", SessionID: "s", IMSI: imsi, At: now, BeganAt: now}
	p := r.Packet([]byte("a secret of a test"))
	p.Del(rfc2865.CallingStationID_Type)
	if network != "" {
		addVendor(p, homeNetworkType, network)
	}
	if calling != "" {
		_ = rfc2865.CallingStationID_SetString(p, calling)
	}
	if user != "" {
		_ = rfc2865.UserName_SetString(p, user)
	}
	return p
}

// What could not be read is quoted in full where it is short, in printable ASCII, and the
// reason is the same whatever was there.
func TestWhatCouldNotBeReadIsQuoted(t *testing.T) {
	t.Parallel()
	a := readOf("", "", "van\x00\n\"\xff\u202e", strings.Repeat("y", 250))
	want := `Calling-Station-Id "van\x00\n\"\xff\u202e", User-Name "` + strings.Repeat("y", longestQuote) + `"...`
	if a.Unusable != noSubscriber || a.Found != want {
		t.Errorf("%q: %s", a.Unusable, a.Found)
	}
	a = readOf("234150000000001", "26201", "", "")
	if want := `3GPP-IMSI "234150000000001", 3GPP-IMSI-MCC-MNC "26201"`; a.Unusable != otherNetwork || a.Found != want {
		t.Errorf("%q: %s", a.Unusable, a.Found)
	}
}
