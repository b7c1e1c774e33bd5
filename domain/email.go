package domain

import (
	"net/mail"
	"net/netip"
	"strings"
)

const (
	// maxEmail is the longest address that a mail server accepts (RFC 5321 §4.5.3.1.3).
	maxEmail = 254
	// maxLocal is the longest part of it before the @ (RFC 5321 §4.5.3.1.1).
	maxLocal = 64
)

// CheckEmail refuses what is no addr-spec of RFC 5322 §3.4.1: a display name,
// comments and blanks around it are no part of an address. It also refuses what no
// mail can reach: a domain of one label, or one that is no host name.
func CheckEmail(field, s string) error {
	if len(s) > maxEmail {
		return Invalid(field, "%s must have at most %d characters", field, maxEmail)
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Name != "" || !isASCII(s) || !spells(s, parsed.Address) {
		return Invalid(field, "%s must be an e-mail address such as ops@example.com", field)
	}
	at := strings.LastIndexByte(s, '@')
	if at > maxLocal {
		return Invalid(field, "%s must have at most %d characters before the @", field, maxLocal)
	}
	if !isMailDomain(s[at+1:]) {
		return Invalid(field, "%s must have a domain that mail can reach, such as example.com", field)
	}
	return nil
}

// isMailDomain reports whether the text is a host name of two labels or more (RFC
// 1123 §2.1), or the literal of an IPv4 address (RFC 5321 §4.1.3).
func isMailDomain(s string) bool {
	if literal, is := strings.CutPrefix(s, "["); is {
		_, err := netip.ParseAddr(strings.TrimSuffix(literal, "]"))
		return err == nil
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if !isHostLabel(label) {
			return false
		}
	}
	return len(labels) > 1 && strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

func isHostLabel(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && len(s) <= 63 && strings.Trim(s, letters+"-") == "" && s[0] != '-' && s[len(s)-1] != '-'
}

// spells reports whether s is the address itself, its local part quoted or not:
// the parser also takes <a@b>, comments and folding blanks.
func spells(s, address string) bool {
	at := strings.LastIndexByte(address, '@')
	if s == address {
		return true
	}
	return strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`+address[at:])
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
