package domain

import (
	"math"
	"net/netip"
	"slices"
	"strings"
)

// maxIdentifier is the longest identifier of a subscriber other than its
// physicalId; an EID, the longest in use, has 32 digits.
const maxIdentifier = 64

// Check refuses a company that breaks a rule of its fields.
func (c *Company) Check() error {
	if err := CheckName("id", c.ExternalID); err != nil {
		return err
	}
	if err := CheckName("name", c.Name); err != nil {
		return err
	}
	if c.CountryCode != "" && c.Country() == nil {
		return Invalid("country", "country must be a code of ISO 3166-1 such as GB, or empty, not %.40q", c.CountryCode)
	}
	_, err := NewBilling(c.BillingDay, c.TimeZone)
	return err
}

// Check refuses an operator without code or name.
func (o *Operator) Check() error {
	if err := checkIdentifier("code", o.Code); err != nil {
		return err
	}
	return CheckName("name", o.Name)
}

// Check refuses a tariff whose fee is negative or whose currency is no ISO 4217
// code.
func (t *Tariff) Check() error {
	if err := CheckName("name", t.Name); err != nil {
		return err
	}
	if t.LineRental < 0 || t.LineRental > math.MaxInt32 {
		return Invalid("lineRental", "lineRental must be 0 to %d, not %d", math.MaxInt32, t.LineRental)
	}
	if len(t.Currency) != 3 || strings.Trim(t.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return Invalid("currency", "currency must be a code of ISO 4217 such as GBP, not %q", t.Currency)
	}
	return nil
}

// Check refuses a group that breaks a rule of its fields.
func (g *Group) Check() error {
	if err := CheckGroupID(g.GroupID); err != nil {
		return err
	}
	return CheckName("name", g.Name)
}

// Check refuses a user without a proper e-mail address, with an unknown
// permission or an impossible group.
func (u *User) Check() error {
	if err := CheckEmail("email", u.Email); err != nil {
		return err
	}
	for _, p := range u.Permissions {
		if p.Label() == "" {
			return Invalid("permissions", "there is no permission %q", p)
		}
	}
	for _, id := range u.Groups {
		if err := CheckGroupID(id); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses a subscriber that breaks a rule of its fields. What its
// identifiers name (operator, tariff, group, parent) is for the store to find.
func (s *Subscriber) Check() error {
	for _, check := range []func() error{s.checkIdentity, s.checkContract, s.checkEUICC} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Subscriber) checkIdentity() error {
	if !slices.Contains([]Kind{Cellular, NonIP, Satellite}, s.Kind) {
		return Invalid("kind", "kind must be cellular, non-ip or satellite, not %q", s.Kind)
	}
	if !slices.Contains([]SubscriberType{Physical, Virtual}, s.SubscriberType) {
		return Invalid("subscriberType", "subscriberType must be physical or virtual, not %q", s.SubscriberType)
	}
	if err := CheckPhysicalID(s.PhysicalID); err != nil {
		return err
	}
	if err := checkIdentifier("subscriberId", s.SubscriberID); err != nil {
		return err
	}
	if err := checkText("imsi", s.IMSI, 0, maxIdentifier); err != nil {
		return err
	}
	if err := checkFixedIPAddress(s.FixedIPAddress); err != nil {
		return err
	}
	if err := CheckNickname(s.Nickname); err != nil {
		return err
	}
	return checkOptional("dataNumber", s.DataNumber)
}

func (s *Subscriber) checkContract() error {
	if err := checkIdentifier("operatorCode", s.OperatorCode); err != nil {
		return err
	}
	if s.TariffName == nil || s.ContractLength == nil {
		return Invalid("tariffName", "tariffName and contractLength must be given")
	}
	if err := CheckName("tariffName", *s.TariffName); err != nil {
		return err
	}
	if n := *s.ContractLength; n < 0 || n > math.MaxInt32 {
		return Invalid("contractLength", "contractLength must be 0 to %d months, not %d", math.MaxInt32, n)
	}
	if s.ExpiryDate.Before(s.ConnectionDate) {
		return Invalid("expiryDate", "expiryDate must not be before connectionDate")
	}
	if s.GroupID != nil {
		return CheckGroupID(*s.GroupID)
	}
	return nil
}

func (s *Subscriber) checkEUICC() error {
	if err := checkOptional("eid", s.EID); err != nil {
		return err
	}
	if err := checkOptional("smdpProvider", s.SMDPProvider); err != nil {
		return err
	}
	switch {
	case s.ParentPhysicalID == nil:
		return nil
	case s.IsEnabledOnParent == nil:
		return Invalid("parent", "parent.isEnabledOnParent must be given")
	case *s.ParentPhysicalID == s.PhysicalID:
		return Invalid("parent", "a subscriber cannot be its own parent")
	}
	return CheckPhysicalID(*s.ParentPhysicalID)
}

func checkIdentifier(field, s string) error {
	if strings.TrimSpace(s) == "" {
		return Invalid(field, "%s must not be blank", field)
	}
	return checkText(field, s, 1, maxIdentifier)
}

func checkOptional(field string, s *string) error {
	if s == nil {
		return nil
	}
	if strings.TrimSpace(*s) == "" {
		return Invalid(field, "%s must not be blank; null means that there is none", field)
	}
	return checkText(field, *s, 1, MaxName)
}

const fixedAddressForm = "a fixed IP address is written as 10.1.2.3, 2001:db8::1 or, for a prefix of IPv6, 2001:db8:0:1::/64, not %q"

// NewFixedIPAddress returns the fixed address of a subscriber in the one way that it is
// written: an IPv4 address, an IPv6 address, or a prefix of IPv6 addresses, since devices
// choose their own within the prefix that a gateway gives them. Addresses that no single
// device can have are Invalid.
func NewFixedIPAddress(s string) (string, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		address, err := netip.ParseAddr(s)
		if err != nil || address.Zone() != "" {
			return "", Invalid("fixedIpAddress", fixedAddressForm, s)
		}
		address = address.Unmap()
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	switch address := prefix.Addr(); {
	case address.Is4() && !prefix.IsSingleIP(), address.Is4In6(), prefix.Bits() == 0, prefix != prefix.Masked():
		return "", Invalid("fixedIpAddress", fixedAddressForm, s)
	case address.IsUnspecified(), address.IsMulticast(), address.IsLoopback(), address.IsLinkLocalUnicast(), address.Is4() && address.As4()[0] >= 240:
		return "", Invalid("fixedIpAddress", "%q cannot be the address of one subscriber", s)
	case prefix.IsSingleIP():
		return address.String(), nil
	}
	return prefix.String(), nil
}

// FixedIPAddresses returns the fixed addresses by which the subscriber may be known that
// has an address: of IPv6 also the prefix of 64 bits, which a gateway gives to a device.
func FixedIPAddresses(address netip.Addr) []string {
	texts := []string{address.String()}
	if address.Is6() {
		prefix := netip.PrefixFrom(address, 64).Masked()
		texts = append(texts, prefix.String())
	}
	fixed := []string{}
	for _, text := range texts {
		if one, err := NewFixedIPAddress(text); err == nil {
			fixed = append(fixed, one)
		}
	}
	return fixed
}

func checkFixedIPAddress(s *string) error {
	if s == nil {
		return nil
	}
	written, err := NewFixedIPAddress(*s)
	if err == nil && written != *s {
		err = Invalid("fixedIpAddress", fixedAddressForm, *s)
	}
	return err
}
