package radius

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
)

// The attributes of vendor 10415 that are read (3GPP TS 29.061 §16.4.7).
const (
	vendor3GPP      = 10415
	imsiType        = 1
	chargingIDType  = 2
	ggsnAddressType = 7
	homeNetworkType = 8
	sgsnNetworkType = 18
	imeisvType      = 20
	ratTypeType     = 21
	locationType    = 22
)

// vendorAttributes are the attributes of 3GPP by type.
type vendorAttributes map[byte][]byte

// threeGPP returns them. What is malformed is left out.
func (r *request) threeGPP() vendorAttributes {
	found := vendorAttributes{}
	for _, a := range r.Attributes {
		if a.Type != rfc2865.VendorSpecific_Type {
			continue
		}
		vendor, b, err := radius.VendorSpecific(a.Attribute)
		if err != nil || vendor != vendor3GPP {
			continue
		}
		for n := wholeAttributes(b); n > 0; n = wholeAttributes(b) {
			size := int(b[1])
			found[b[0]] = b[attributeHead:size]
			b = b[size:]
		}
	}
	return found
}

func (v vendorAttributes) text(of byte) string { return string(v[of]) }

// ratTypes are the radio accesses, as Debian's dictionary.3gpp names them where it does.
var ratTypes = map[byte]string{
	1: "UTRAN", 2: "GERAN", 3: "WLAN", 4: "GAN", 5: "HSPA+", 6: "EUTRAN", 7: "Virtual", 8: "NB-IoT", 9: "LTE-M", 10: "NR",
	101: "IEEE-802.16e", 102: "3GPP2-eHRPD", 103: "3GPP2-HRPD", 104: "3GPP2-1xRTT",
}

// ratType names the radio access; one without a name keeps its number.
func (v vendorAttributes) ratType() string {
	value := v[ratTypeType]
	if len(value) != 1 {
		return ""
	}
	if name, ok := ratTypes[value[0]]; ok {
		return name
	}
	return fmt.Sprint(value[0])
}

const (
	longestText = 100
	shortText   = 48
)

// text returns the printable beginning of an attribute.
func text(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	if runes := []rune(s); len(runes) > longestText {
		return string(runes[:longestText])
	}
	return s
}

// digits returns an identifier of digits, such as an IMSI; "" for another text. A
// sign before a number of the telephone network is left out.
func digits(s string) string {
	s = strings.TrimPrefix(strings.TrimRight(s, "\x00 "), "+")
	if len(s) > shortText || strings.Trim(s, "0123456789") != "" {
		return ""
	}
	return s
}

// short is a part of a session id: as it is, or a hash of what is too long.
func short(s string) string {
	if len(s) <= shortText {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:shortText/4])
}
