package query

import (
	"fmt"
	"strings"
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
	// Allowed names the fields of the list, in the order of the catalogue.
	Allowed []string
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d, ", e.Column)
	}
	if e.Token == "" {
		b.WriteString("end of text")
	} else {
		fmt.Fprintf(&b, "%q", e.Token)
	}
	fmt.Fprintf(&b, ": %s", e.Reason)
	if len(e.Allowed) > 0 {
		fmt.Fprintf(&b, "; the fields are %s", strings.Join(e.Allowed, ", "))
	}
	return b.String()
}

// clip shortens a token for an error.
func clip(token string) string {
	if utf8.RuneCountInString(token) <= longestToken {
		return token
	}
	return string([]rune(token)[:longestToken]) + "…"
}
