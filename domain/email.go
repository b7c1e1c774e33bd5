package domain

import (
	"net/mail"
	"strings"
)

// maxEmail is the longest address that a mail server accepts (RFC 5321 §4.5.3.1.3).
const maxEmail = 254

// CheckEmail refuses what is no addr-spec of RFC 5322 §3.4.1: a display name,
// comments and blanks around it are no part of an address.
func CheckEmail(field, s string) error {
	if len(s) > maxEmail {
		return Invalid(field, "%s must have at most %d characters", field, maxEmail)
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Name != "" || !isASCII(s) || !spells(s, parsed.Address) {
		return Invalid(field, "%s must be an e-mail address such as ops@example.com", field)
	}
	return nil
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
