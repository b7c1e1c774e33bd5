package domain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// MaxPhysicalID is the longest physicalId in characters (spec §8).
	MaxPhysicalID = 25
	// MaxNickname is the longest nickname in characters (spec §8).
	MaxNickname = 256
	// MaxName is the longest name of a group, a company or a tariff in characters.
	MaxName = 256
	// MaxTagName is the longest tag name in characters.
	MaxTagName = 255
)

// TagName is a valid tag name: see NewTagName.
type TagName string

// String returns the name as it is shown.
func (n TagName) String() string { return string(n) }

// NewTagName returns the name in NFC, or an Invalid error that describes what is
// wrong with it. Case is significant.
func NewTagName(s string) (TagName, error) {
	const field = "tagName"
	name := norm.NFC.String(s)
	switch {
	case strings.TrimSpace(name) == "":
		return "", Invalid(field, "a tag name must not be blank")
	case name != strings.TrimSpace(name):
		return "", Invalid(field, "a tag name must not begin or end with a blank")
	case name == "." || name == "..":
		return "", Invalid(field, "a tag name must not be %q", name)
	}
	if err := checkText(field, name, 1, MaxTagName); err != nil {
		return "", err
	}
	if strings.ContainsFunc(name, isBidiControl) {
		return "", Invalid(field, "a tag name must not hold characters that change the writing direction")
	}
	return TagName(name), nil
}

// CheckPhysicalID refuses what no ICCID, device EUI or IMEI can be: 1 to 25
// characters, no control characters (spec §2.2).
func CheckPhysicalID(s string) error { return checkText("physicalId", s, 1, MaxPhysicalID) }

// CheckNickname refuses nicknames over 256 characters and control characters.
func CheckNickname(s string) error { return checkText("nickname", s, 0, MaxNickname) }

// CheckName refuses names that are blank, over 256 characters or hold control
// characters. field is how the caller calls it.
func CheckName(field, s string) error {
	if strings.TrimSpace(s) == "" {
		return Invalid(field, "%s must not be blank", field)
	}
	return checkText(field, s, 1, MaxName)
}

func checkText(field, s string, least, most int) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "%s is not valid UTF-8", field)
	}
	if n := utf8.RuneCountInString(s); n < least || n > most {
		return Invalid(field, "%s must have %d to %d characters, this one has %d", field, least, most, n)
	}
	if strings.ContainsFunc(s, isControl) {
		return Invalid(field, "%s must not hold control characters", field)
	}
	return nil
}

func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

func isBidiControl(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
