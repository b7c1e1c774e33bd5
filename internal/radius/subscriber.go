package radius

import (
	"fmt"
	"net/netip"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc6911"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

const (
	// msisdnSize is the longest number of E.164.
	msisdnSize = 15
	imsiSize   = 15
	// iccidSize is the shortest ICCID (ITU-T E.118); one with another digit is as common.
	iccidSize = 19
	// iccidHead begins every ICCID: the industry of telecommunications.
	iccidHead = "89"
	// longestQuote bounds what is quoted of an attribute, in bytes.
	longestQuote = 48
)

// The reasons for which nobody can be found. Rejects are counted by them, so they are
// the same for all subscribers.
const (
	noSubscriber = "3GPP-IMSI, Calling-Station-Id and User-Name have no IMSI, number or ICCID, and no address is framed"
	otherNetwork = "3GPP-IMSI does not begin with 3GPP-IMSI-MCC-MNC"
)

// defect is why a request cannot be used, and what was found in its place.
type defect struct{ reason, found string }

// subscriber is how a request names its subscriber: by IMSI and MSISDN, or else by
// ICCID.
type subscriber struct {
	imsi, msisdn, iccid string
	// dialled is the MSISDN where it may be a national number.
	dialled string
}

// subscriber returns whom the request is about. A number of 15 digits may be an MSISDN
// or an IMSI: it is an IMSI where another attribute says so, either where User-Name has the
// same digits, and an MSISDN otherwise.
func (r *request) subscriber(g vendorAttributes) (subscriber, defect) {
	imsi, network := digits(g.text(imsiType)), homeNetwork(g.text(homeNetworkType))
	calling, user := rfc2865.CallingStationID_GetString(r.Packet), rfc2865.UserName_GetString(r.Packet)
	number := msisdn(calling)
	if imsi != "" {
		if !network.has(imsi) {
			return subscriber{}, defect{otherNetwork, r.found(g)}
		}
		if plain(calling) == imsi {
			return subscriber{imsi: imsi}, defect{}
		}
		return subscriber{imsi: imsi, msisdn: number, dialled: dialled(calling)}, defect{}
	}
	userIMSI := imsiOfUser(user)
	if !network.has(userIMSI) {
		userIMSI = ""
	}
	switch id, card := plain(calling), iccid(calling); {
	case len(id) == imsiSize && network.has(id) && (network != "" || id == userIMSI && hasMCC(id)):
		if network == "" && strings.HasPrefix(user, id) { // subscribers are looked up by the IMSI first
			return subscriber{imsi: id, msisdn: id, dialled: id}, defect{}
		}
		return subscriber{imsi: id}, defect{}
	case number != "":
		return subscriber{msisdn: number, dialled: dialled(calling)}, defect{}
	case card != "":
		return subscriber{iccid: card}, defect{}
	case userIMSI != "":
		return subscriber{imsi: userIMSI}, defect{}
	}
	if card := iccidOfUser(user); card != "" {
		return subscriber{iccid: card}, defect{}
	}
	return subscriber{}, defect{noSubscriber, r.found(g)}
}

// framed returns the addresses that the network gave to the subscriber, as fixed ones are
// written: Framed-IP-Address, Framed-IPv6-Prefix and then Framed-IPv6-Address.
func (r *request) framed() (addresses []string) {
	if ip := r.Get(rfc2865.FramedIPAddress_Type); len(ip) == 4 {
		addresses = domain.FixedIPAddresses(netip.AddrFrom4([4]byte(ip)))
	}
	if prefix := r.ipv6Prefix(); prefix.IsValid() {
		if fixed, err := domain.NewFixedIPAddress(prefix.String()); err == nil {
			addresses = append(addresses, fixed)
		}
	}
	if ip := r.Get(rfc6911.FramedIPv6Address_Type); len(ip) == 16 {
		addresses = append(addresses, domain.FixedIPAddresses(netip.AddrFrom16([16]byte(ip)))...)
	}
	return addresses
}

// network is the MCC and MNC that IMSIs of a home network begin with; "" is any.
type network string

// homeNetwork returns what 3GPP-IMSI-MCC-MNC states: five or six digits.
func homeNetwork(s string) network {
	if s = plain(s); len(s) != 5 && len(s) != 6 {
		return ""
	}
	return network(s)
}

// has reports whether the IMSI may be one of the network. An MNC of two digits is also
// written with a 0 before it.
func (n network) has(imsi string) bool {
	if strings.HasPrefix(imsi, string(n)) {
		return true
	}
	return len(n) == 6 && n[3] == '0' && strings.HasPrefix(imsi, string(n[:3]+n[4:]))
}

// hasMCC reports whether an IMSI may begin so: mobile country codes are 2 to 7 and 9
// (ITU-T E.212), and numbers of global M2M services begin with 88.
func hasMCC(imsi string) bool { return imsi[0] >= '2' && imsi[0] != '8' }

// msisdn returns an international number in digits, however it is written: with +, 00 or
// as tel: URI (RFC 3966); "" for another text.
func msisdn(s string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(ascii.Lower(s), "tel:"), ";")
	if number = strings.TrimPrefix(digits(number), "00"); len(number) > msisdnSize {
		return ""
	}
	return number
}

// dialled returns a number that does not say that it is international; "" for another text.
func dialled(s string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(ascii.Lower(s), "tel:"), ";")
	if number = plain(number); strings.HasPrefix(number, "00") || len(number) > msisdnSize {
		return ""
	}
	return number
}

// plain returns an identifier that is written in digits only; "" for another text.
func plain(s string) string {
	if strings.HasPrefix(s, "+") {
		return ""
	}
	return digits(s)
}

// iccid returns an ICCID in digits, without the F that fills the last half of a byte;
// "" for another text.
func iccid(s string) string {
	s = strings.TrimRight(s, "\x00 ")
	if len(s) == iccidSize+1 {
		s = strings.TrimRight(s, "Ff")
	}
	if s = plain(s); (len(s) != iccidSize && len(s) != iccidSize+1) || !strings.HasPrefix(s, iccidHead) {
		return ""
	}
	return s
}

// imsiOfUser returns the IMSI that a user name begins with; "" for none. The identity of
// RFC 4186 §4.2.1.6 has a digit before it.
func imsiOfUser(s string) string {
	user, _, _ := strings.Cut(s, "@")
	if user = digits(user); len(user) == imsiSize+1 && (user[0] == '0' || user[0] == '1' || user[0] == '6') {
		user = user[1:]
	}
	if len(user) != imsiSize {
		return ""
	}
	return user
}

// iccidOfUser returns the ICCID that a user name begins with; "" for none.
func iccidOfUser(s string) string {
	user, _, _ := strings.Cut(s, "@")
	return iccid(user)
}

// found quotes the attributes that may name a subscriber.
func (r *request) found(g vendorAttributes) string {
	var parts []string
	for _, a := range []struct {
		name  string
		value []byte
	}{
		{"3GPP-IMSI", g[imsiType]}, {"3GPP-IMSI-MCC-MNC", g[homeNetworkType]},
		{"Calling-Station-Id", r.Get(rfc2865.CallingStationID_Type)}, {"User-Name", r.Get(rfc2865.UserName_Type)},
	} {
		if a.value != nil {
			parts = append(parts, a.name+" "+quoted(a.value))
		}
	}
	return strings.Join(append(parts, r.foundAddresses()...), ", ")
}

// foundAddresses are the addresses that are framed, in bytes where they have not the length
// of one.
func (r *request) foundAddresses() (parts []string) {
	for _, a := range []struct {
		name  string
		value []byte
	}{
		{"Framed-IP-Address", r.Get(rfc2865.FramedIPAddress_Type)}, {"Framed-IPv6-Address", r.Get(rfc6911.FramedIPv6Address_Type)},
	} {
		if address, ok := netip.AddrFromSlice(a.value); ok {
			parts = append(parts, a.name+" "+address.String())
		} else if a.value != nil {
			parts = append(parts, a.name+" "+quoted(a.value))
		}
	}
	if value := r.Get(rfc3162.FramedIPv6Prefix_Type); value != nil {
		written := quoted(value)
		if prefix := r.ipv6Prefix(); prefix.IsValid() {
			written = prefix.String()
		}
		parts = append(parts, "Framed-IPv6-Prefix "+written)
	}
	return parts
}

// foundAt quotes attributes that have no number where there should be one.
func (r *request) foundAt(types ...radius.Type) string {
	var parts []string
	for _, of := range types {
		if value, ok := r.Lookup(of); ok {
			parts = append(parts, fmt.Sprintf("attribute %d %s", of, quoted(value)))
		}
	}
	return strings.Join(parts, ", ")
}

// quoted is the beginning of a value in printable ASCII.
func quoted(value []byte) string {
	if len(value) > longestQuote {
		return fmt.Sprintf("%+q...", value[:longestQuote])
	}
	return fmt.Sprintf("%+q", value)
}
