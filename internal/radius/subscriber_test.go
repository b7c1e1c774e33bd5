package radius

import (
	"net"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc6911"

	"simgraph/domain"
	"simgraph/internal/fatal"
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
		"15 digits that are the user's":              {"", "", imsi, imsi + "@iot.example", subscriber{imsi: imsi, msisdn: imsi}, ""},
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
			got := subscriber{imsi: a.Record.IMSI, msisdn: a.Record.MSISDN, iccid: a.Record.PhysicalID}
			if got != test.want {
				t.Errorf("it is about %+v, not %+v", got, test.want)
			}
		})
	}
}

// A number may be national unless it says that it is not.
func TestNumbersThatMayBeNational(t *testing.T) {
	t.Parallel()
	const imsi = "234150000000001"
	for _, test := range []struct{ imsi, calling, want string }{
		{"", "07700900001", "07700900001"}, {imsi, "07700900001", "07700900001"}, {"", "447700900001", "447700900001"}, {"", "tel:07700900001", "07700900001"},
		{"", "+447700900001", ""}, {"", "00447700900001", ""}, {"", "tel:+447700900001", ""}, {imsi, imsi, ""}, {imsi, "", ""}, {"", "8944500102030405067", ""},
	} {
		if got := readOf(test.imsi, "", test.calling, "").DialledNumber; got != test.want {
			t.Errorf("%q is %q, not %q", test.calling, got, test.want)
		}
	}
}

// A request that names nobody else is that of the subscriber with the address: the first
// of these that one has. An address that no single device can have is none.
func TestARequestMayNameItsSubscriberByAddressAlone(t *testing.T) {
	t.Parallel()
	type attributes struct{ address, prefix, address6 string }
	for name, test := range map[string]struct {
		imsi, user string
		attributes
		want   string
		reason string
		found  string
	}{
		"IPv4":                     {"", "van", attributes{"10.1.2.3", "", ""}, "10.1.2.3", "", `User-Name "van", Framed-IP-Address 10.1.2.3`},
		"a prefix":                 {"", "", attributes{"", "2001:db8:0:1::/64", ""}, "2001:db8:0:1::/64", "", "Framed-IPv6-Prefix 2001:db8:0:1::/64"},
		"a prefix of one":          {"", "", attributes{"", "2001:db8::7/128", ""}, "2001:db8::7", "", "Framed-IPv6-Prefix 2001:db8::7/128"},
		"IPv6":                     {"", "", attributes{"", "", "2001:db8:0:1::7"}, "2001:db8:0:1::7 2001:db8:0:1::/64", "", "Framed-IPv6-Address 2001:db8:0:1::7"},
		"all":                      {"", "", attributes{"10.1.2.3", "2001:db8::/56", "2001:db8::7"}, "10.1.2.3 2001:db8::/56 2001:db8::7 2001:db8::/64", "", "Framed-IP-Address 10.1.2.3, Framed-IPv6-Address 2001:db8::7, Framed-IPv6-Prefix 2001:db8::/56"},
		"an IMSI comes first":      {"234150000000001", "", attributes{"10.1.2.3", "", ""}, "", "", ""},
		"an ICCID comes first":     {"", "8944500102030405067@x", attributes{"10.1.2.3", "", ""}, "", "", ""},
		"one that is to be chosen": {"", "", attributes{"255.255.255.254", "", ""}, "", noSubscriber, "Framed-IP-Address 255.255.255.254"},
	} {
		p := named(test.imsi, "", "", test.user)
		if test.address != "" {
			_ = rfc2865.FramedIPAddress_Set(p, net.ParseIP(test.address))
		}
		if test.prefix != "" {
			_, network, err := net.ParseCIDR(test.prefix)
			fatal.If(t, err)
			_ = rfc3162.FramedIPv6Prefix_Set(p, network)
		}
		if test.address6 != "" {
			_ = rfc6911.FramedIPv6Address_Set(p, net.ParseIP(test.address6))
		}
		a := (&request{Packet: p}).read(time.Now())
		if got := strings.Join(a.FixedAddresses, " "); got != test.want || a.Unusable != test.reason || a.Found != test.found {
			t.Errorf("%s: %q, unusable since %q, found %s", name, got, a.Unusable, a.Found)
		}
	}
}

// An address of another length is quoted as it is.
func TestAnAddressThatCannotBeReadIsQuoted(t *testing.T) {
	t.Parallel()
	p := named("", "", "", "")
	p.Set(rfc2865.FramedIPAddress_Type, []byte("10.1.2"))
	p.Set(rfc3162.FramedIPv6Prefix_Type, []byte{0, 200})
	a := (&request{Packet: p}).read(time.Now())
	if want := `Framed-IP-Address "10.1.2", Framed-IPv6-Prefix "\x00\xc8"`; a.Unusable != noSubscriber || a.Found != want {
		t.Errorf("%q: %s", a.Unusable, a.Found)
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
