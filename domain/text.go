package domain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
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
	// MaxReason is the longest reason of a change in characters.
	MaxReason = 500
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
	return TagName(name), checkText(field, name, 1, MaxTagName)
}

// CheckPhysicalID refuses what no ICCID, device EUI or IMEI can be: 1 to 25
// characters, no control characters (spec §2.2).
func CheckPhysicalID(s string) error { return checkText("physicalId", s, 1, MaxPhysicalID) }

// NewNickname returns the nickname in NFC, or an error of CheckNickname.
func NewNickname(s string) (string, error) {
	nickname := norm.NFC.String(s)
	return nickname, CheckNickname(nickname)
}

// CheckNickname refuses nicknames over 256 characters, and control characters and
// those that are not seen.
func CheckNickname(s string) error { return checkText("nickname", s, 0, MaxNickname) }

// CheckName refuses names that are blank, over 256 characters or hold control
// characters or those that are not seen. field is the caller's name for it.
func CheckName(field, s string) error {
	if strings.TrimSpace(s) == "" {
		return Invalid(field, "%s must not be blank", field)
	}
	return checkText(field, s, 1, MaxName)
}

// NewText returns a text of people in NFC, or an error where it is blank, has more than most
// characters, or holds control characters or those that are not seen.
func NewText(field, s string, most int) (string, error) {
	text := norm.NFC.String(s)
	if strings.TrimSpace(text) == "" {
		return text, Invalid(field, "%s must not be blank", field)
	}
	return text, checkText(field, text, 1, most)
}

// NewReason returns why somebody changes something, in NFC and without blanks around it; "" is
// no reason. It is one line of at most MaxReason characters.
func NewReason(s string) (string, error) {
	reason := strings.TrimSpace(norm.NFC.String(s))
	return reason, checkText("reason", reason, 0, MaxReason)
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
	if strings.ContainsFunc(s, isUnseen) || !joins(s) {
		return Invalid(field, "%s must not hold characters without width or that change the writing direction", field)
	}
	return nil
}

// OneLine makes a text fit for a line of a mail or of a log, whatever it holds:
// characters that control or that change the writing direction become blanks, and
// what is longer than most characters is cut and ends in an ellipsis.
func OneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if isControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

const nonJoiner, joiner = '\u200c', '\u200d'

// isUnseen finds characters that make a text look like another one: those that format
// it, change its direction or are not shown. Variation selectors, which emoji have, and
// the two joiners (see joins) are none.
func isUnseen(r rune) bool {
	switch {
	case r == nonJoiner, r == joiner, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case unicode.Is(unicode.Variation_Selector, r):
		return '\u180b' <= r && r <= '\u180f' // of Mongolian
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// freeform has the rules of RFC 5892 for joiners (appendices A.1 and A.2).
var freeform = precis.NewFreeform()

// joins reports whether each zero width joiner and non-joiner of the text stands where
// it changes what is seen, as within words in Persian or Hindi.
func joins(s string) bool {
	if !strings.ContainsRune(s, nonJoiner) && !strings.ContainsRune(s, joiner) {
		return true
	}
	letters := strings.Map(func(r rune) rune {
		if r == nonJoiner || r == joiner || unicode.IsMark(r) || unicode.IsLetter(r) && !unicode.Is(unicode.Hangul, r) {
			return r
		}
		return ' '
	}, s)
	_, err := freeform.String(letters)
	return err == nil
}

// OrEmpty is the text, or "" for nil.
func OrEmpty[T ~string](text *T) T {
	if text == nil {
		return ""
	}
	return *text
}

// IsFormula reports whether a spreadsheet may run the text as a formula.
func IsFormula(text string) bool { return text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 }
