package query

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestToken bounds, in characters, how much of a caller's text an error repeats.
const longestToken = 60

// SyntaxError describes what is wrong with a filter or an order, and where.
type SyntaxError struct {
	// Column is the place of the token, counted in characters from 1; 0 when
	// the comparison did not come from a text.
	Column int
	// Token is the offending piece of text, shortened when long; "" at the end.
	Token string
	// Reason is what was expected instead.
	Reason string
	// Allowed names the fields of the list, in the order of the catalogue, where
	// another field is the remedy; nil elsewhere.
	Allowed []string
}

// Error returns the fault, and the fields that are allowed.
func (e *SyntaxError) Error() string {
	if len(e.Allowed) == 0 {
		return e.Fault()
	}
	return e.Fault() + "; the fields are " + strings.Join(e.Allowed, ", ")
}

// Fault returns where the fault is and what was expected.
func (e *SyntaxError) Fault() string {
	switch {
	case e.Column == 0:
		return e.Reason
	case e.Token == "":
		return fmt.Sprintf("column %d, end of text: %s", e.Column, e.Reason)
	}
	return fmt.Sprintf("column %d, %s: %s", e.Column, inQuotes(e.Token), e.Reason)
}

// inQuotes puts a text of the caller between quotes that it does not have itself.
// Only what cannot be printed is escaped.
func inQuotes(text string) string {
	unprintable := strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	switch {
	case unprintable:
		return strconv.Quote(text)
	case strings.Contains(text, `"`):
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// clip shortens a token for an error.
func clip(token string) string {
	if utf8.RuneCountInString(token) <= longestToken {
		return token
	}
	return string([]rune(token)[:longestToken]) + "…"
}
