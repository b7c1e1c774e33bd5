package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// physicalID returns the ICCID, device EUI or IMEI of a device, unique within
// the company.
func (o Options) physicalID(device int) string {
	switch classOf(device).network {
	case &lorawan:
		return eui(device)
	case &satellite:
		return imei(device)
	default:
		return iccid(o.operator(device), device)
	}
}

// iccid returns an ICCID of ITU-T E.118 with its check digit: 19 or 20 digits,
// as the operator has it.
func iccid(op operator, device int) string {
	prefix := "89" + op.calling + op.issuer
	return luhn(prefix + digits(device, op.iccid-1-len(prefix)))
}

// imei returns an IMEI with its check digit: type allocation code, serial number.
func imei(device int) string {
	return luhn(digits(30012506+device/1_000_000, 8) + digits(device%1_000_000, 6))
}

// eui returns an EUI-64 under one maker's prefix.
func eui(device int) string { return fmt.Sprintf("70B3D57E%08X", device) }

// imsi has 15 digits: the operator's code and a serial number.
func imsi(op operator, device int) string { return op.code + digits(device, 15-len(op.code)) }

// eid returns an EID of GSMA SGP.02: 32 digits, the last two of which make the
// number 1 modulo 97.
func eid(device int) string {
	body := "89049032" + "123451" + digits(device, 16)
	remainder := 0
	for _, d := range body + "00" {
		remainder = (remainder*10 + int(d-'0')) % 97
	}
	return body + digits(98-remainder, 2)
}

// luhn appends the check digit of ISO/IEC 7812.
func luhn(body string) string {
	sum := 0
	for i := range len(body) {
		d := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return body + strconv.Itoa((10-sum%10)%10)
}

// digits writes a number with leading zeros.
func digits(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(width-len(s), 0)) + s
}
