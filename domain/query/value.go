package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"simgraph/domain/ascii"
)

// maxDigits bounds a Number before and after its point together.
const maxDigits = 38

// Value is one side of a comparison, already of the type of the field: the one
// field that belongs to the type is set, or Null.
type Value struct {
	Null bool
	// Text is the value of Text and Set, and the canonical decimal of Number.
	Text string
	Int  int64
	Bool bool
	// Time is in UTC.
	Time Interval
}

// text prints the value so that it parses back for a field of that type.
func (v Value) text(t Type) string {
	if v.Null {
		return "null"
	}
	switch t {
	case Integer:
		return strconv.FormatInt(v.Int, 10)
	case Number:
		return v.Text
	case Boolean:
		return strconv.FormatBool(v.Bool)
	case Time:
		return v.Time.String()
	default:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v.Text) + `"`
	}
}

// newValue reads a literal that the operator compares the field with.
func (f Field) newValue(op Op, literal any) (v Value, reason string) {
	v, reason = newValue(f.Type, literal)
	if f.NFC {
		v.Text = norm.NFC.String(v.Text)
	}
	if reason == "" && !f.canHave(op, v) {
		return Value{}, "one of " + strings.Join(f.Values, ", ") + " is expected"
	}
	return v, reason
}

// canHave reports whether the field can have the value, where the operator compares
// with whole values.
func (f Field) canHave(op Op, v Value) bool {
	whole := op == Eq || op == Ne || op == In
	return !whole || v.Null || f.Values == nil || slices.Contains(f.Values, v.Text)
}

// newValue reads a literal as the type demands. The reason is "" when it could.
func newValue(t Type, literal any) (v Value, reason string) {
	if literal == nil {
		if t == Set {
			return Value{}, "a set is never null"
		}
		return Value{Null: true}, ""
	}
	s, ok := literalText(literal)
	if !ok {
		return Value{}, fmt.Sprintf("%T is no value of a filter", literal)
	}
	switch t {
	case Integer:
		return integerValue(s)
	case Number:
		return numberValue(s)
	case Boolean:
		return booleanValue(s)
	case Time:
		return timeValue(s)
	default:
		return textValue(s)
	}
}

// literalText writes the values that typed inputs hold as the language would, so
// that one set of rules reads both.
func literalText(literal any) (string, bool) {
	switch v := literal.(type) {
	case string:
		return v, true
	case int:
		return strconv.Itoa(v), true
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case bool:
		return strconv.FormatBool(v), true
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), true
	default:
		return "", false
	}
}

func textValue(s string) (Value, string) {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return Value{}, "the text is not valid UTF-8 or holds NUL"
	case len(s) > MaxBytes:
		return Value{}, tooLong
	}
	return Value{Text: s}, ""
}

func integerValue(s string) (Value, string) {
	n, ok := ParseInteger(s, 64)
	if !ok {
		return Value{}, "a whole number of 64 bits is expected"
	}
	return Value{Int: n}, ""
}

func booleanValue(s string) (Value, string) {
	switch ascii.Lower(s) {
	case "true":
		return Value{Bool: true}, ""
	case "false":
		return Value{}, ""
	}
	return Value{}, "true or false is expected"
}

func timeValue(s string) (Value, string) {
	interval, err := ParseInterval(s)
	if err != nil {
		return Value{}, err.Error()
	}
	return Value{Time: interval.utc()}, ""
}

// numberValue brings a decimal into its shortest form: no plus, no needless zero.
func numberValue(s string) (Value, string) {
	digits, negative := strings.CutPrefix(s, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	whole, fraction, point := strings.Cut(digits, ".")
	if !areDigits(whole) || point && !areDigits(fraction) || len(whole)+len(fraction) > maxDigits {
		return Value{}, fmt.Sprintf("a decimal of up to %d digits is expected", maxDigits)
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && whole != "0" {
		whole = "-" + whole
	}
	return Value{Text: whole}, ""
}

func areDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
