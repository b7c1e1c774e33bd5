package domain_test

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"simgraph/domain"
)

func TestTariffsAndContractsFitTheirColumns(t *testing.T) {
	t.Parallel()
	for fee, fits := range map[int]bool{-1: false, 0: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		tariff := domain.Tariff{Name: "IoT", LineRental: fee, Currency: "GBP"}
		if err := tariff.Check(); (err == nil) != fits {
			t.Errorf("a line rental of %d: %v", fee, err)
		}
	}
	for currency, fits := range map[string]bool{"GBP": true, "GB": false, "GBPX": false, "gbp": false, "G8P": false} {
		tariff := domain.Tariff{Name: "IoT", Currency: currency}
		if err := tariff.Check(); (err == nil) != fits {
			t.Errorf("the currency %s: %v", currency, err)
		}
	}
}

func TestARecordOfASubscriberMayReachItsBounds(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spoil func(s *domain.Subscriber)
		field string // "" where it fits
	}{
		"as it is":                  {func(*domain.Subscriber) {}, ""},
		"expires with its begin":    {func(s *domain.Subscriber) { s.ExpiryDate = begin }, ""},
		"expires before its begin":  {func(s *domain.Subscriber) { s.ExpiryDate = begin.Add(-1) }, "expiryDate"},
		"a profile on another":      {func(s *domain.Subscriber) { s.ParentPhysicalID, s.IsEnabledOnParent = new("p2"), new(true) }, ""},
		"a profile on itself":       {func(s *domain.Subscriber) { s.ParentPhysicalID, s.IsEnabledOnParent = new("p1"), new(true) }, "parent"},
		"enabled is not known":      {func(s *domain.Subscriber) { s.ParentPhysicalID = new("p2") }, "parent"},
		"the longest contract":      {func(s *domain.Subscriber) { s.ContractLength = new(math.MaxInt32) }, ""},
		"a contract that is longer": {func(s *domain.Subscriber) { s.ContractLength = new(math.MaxInt32 + 1) }, "contractLength"},
	} {
		s := domain.Subscriber{
			Kind: domain.Cellular, SubscriberType: domain.Physical, PhysicalID: "p1", SubscriberID: "s1", OperatorCode: "23410",
			TariffName: new("IoT"), ContractLength: new(0), ConnectionDate: begin, ExpiryDate: begin.AddDate(1, 0, 0),
		}
		c.spoil(&s)
		err := s.Check()
		fault, _ := domain.AsError(err)
		if (err == nil) != (c.field == "") || fault != nil && fault.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fixed address is written in one way, so that it is unique and found by its text.
func TestAFixedIPAddressIsWrittenInOneWay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.1.2.3": "10.1.2.3", "10.1.2.3/32": "10.1.2.3", "::ffff:10.1.2.3": "10.1.2.3",
		"2001:DB8:0::1": "2001:db8::1", "2001:db8::1/128": "2001:db8::1", "2001:db8:0:1::/64": "2001:db8:0:1::/64", "2001:0db8:1::/56": "2001:db8:1::/56",
		"": "", "van": "", "10.1.2": "", "010.1.2.3": "", "10.1.2.0/24": "", "2001:db8::1/64": "", "::/0": "", "::ffff:10.1.2.0/120": "", "fe80::1%eth0": "",
		"0.0.0.0": "", "127.0.0.1": "", "224.0.0.1": "", "255.255.255.254": "", "255.255.255.255": "", "169.254.1.1": "", "::": "", "::1": "", "ff02::1": "", "fe80::1": "",
	} {
		got, err := domain.NewFixedIPAddress(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
		if again, _ := domain.NewFixedIPAddress(got); again != got {
			t.Errorf("%q is written as %q again", got, again)
		}
	}
}

func TestAnIPv6AddressIsFoundByItsPrefix(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"10.1.2.3": {"10.1.2.3"}, "2001:db8:0:1::7": {"2001:db8:0:1::7", "2001:db8:0:1::/64"}, "0.0.0.0": {},
	} {
		if got := domain.FixedIPAddresses(netip.MustParseAddr(text)); !slices.Equal(got, want) {
			t.Errorf("%s may be %q, want %q", text, got, want)
		}
	}
}
