package input

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckJSON refuses bytes that a JSON decoder would silently alter: invalid
// UTF-8 and escaped halves of surrogate pairs.
func CheckJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the body is not valid UTF-8")
	}
	if bytes.IndexByte(body, '\\') >= 0 && loneSurrogate(string(body)) {
		return errors.New("the body escapes half of a surrogate pair")
	}
	return nil
}

// loneSurrogate reports an escape \uD800 to \uDFFF without its other half.
func loneSurrogate(text string) bool {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			text = text[i+2:]
		case unit < 0xD800 || unit > 0xDFFF:
			text = text[i+6:]
		default:
			low, ok := escapedUnit(text[i+6:])
			if unit >= 0xDC00 || !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			text = text[i+12:]
		}
	}
}

// escapedUnit reads \uXXXX at the beginning of text.
func escapedUnit(text string) (uint64, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	return unit, err == nil
}

// textFault returns what keeps a string out of the database, or "".
func (c *Checker) textFault(text string) string {
	switch {
	case len(text) > c.limits.Text:
		return "a text may have at most " + strconv.Itoa(c.limits.Text) + " bytes"
	case strings.IndexByte(text, 0) >= 0:
		return "a text must not have NUL characters"
	case !utf8.ValidString(text):
		return "a text must be valid UTF-8"
	default:
		return ""
	}
}
