package webhook

import (
	"net/netip"
	"net/url"
	"strings"

	"simgraph/domain"
)

// Rules are what the operator of the service allows.
type Rules struct {
	// AllowPrivate allows http, and addresses that are not of the public internet.
	AllowPrivate bool
}

// CheckURL refuses what is no address of an endpoint. Names are not looked up: what
// they stand for is checked at every dial.
func (r Rules) CheckURL(text string) error {
	const field = "url"
	if len(text) > MaxURL {
		return domain.Invalid(field, "a URL must have at most %d bytes", MaxURL)
	}
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.Opaque != "" || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return domain.Invalid(field, "a URL must be written as https://example.com/path")
	}
	switch {
	case address.Scheme != "https" && !(r.AllowPrivate && address.Scheme == "http"):
		return domain.Invalid(field, "a URL must begin with https://")
	case address.User != nil:
		return domain.Invalid(field, "a URL must not hold a user or password")
	case address.Fragment != "":
		return domain.Invalid(field, "a URL must not have a fragment")
	}
	if ip, err := netip.ParseAddr(address.Hostname()); err == nil && r.Forbids(ip) {
		return domain.Invalid(field, "%s is no address of the public internet", ip)
	}
	return nil
}

// global6 is what of IPv6 is given out to the internet.
var global6 = netip.MustParsePrefix("2000::/3")

// special are networks that lead elsewhere than to a host of the internet, or to
// one that an address within them names (RFC 6890). NAT64 is outside of global6.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("168.63.129.16/32"), // services of Azure to its own machines
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), // 6to4 relays
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast, reserved, broadcast
	netip.MustParsePrefix("2001::/23"),   // Teredo and others of the IETF
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // 6to4
	netip.MustParsePrefix("3fff::/20"),
}

// Forbids reports whether no request may go to the address. Of IPv4 in IPv6 the
// former counts.
func (r Rules) Forbids(ip netip.Addr) bool {
	if r.AllowPrivate {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() && !global6.Contains(ip) {
		return true
	}
	for _, network := range special {
		if network.Contains(ip) {
			return true
		}
	}
	return !ip.IsValid()
}
