// Package scalar holds the custom scalars of the graph: how a value is written
// into an answer, and which inputs are taken for one.
package scalar

import (
	"io"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

// dateTimeLayout is RFC 3339 with as many digits of the second as needed.
const dateTimeLayout = `"2006-01-02T15:04:05.999999999Z07:00"`

// MarshalDateTime writes an instant in UTC, as RFC 3339 with a final Z.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		var text [len(dateTimeLayout)]byte
		// The writer is the response's buffer, which never fails.
		_, _ = w.Write(AppendDateTime(text[:0], t))
	})
}

// AppendDateTime appends what MarshalDateTime writes.
func AppendDateTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 || t.Nanosecond() != 0 {
		return t.AppendFormat(b, dateTimeLayout)
	}
	// Package time would read the layout anew for every value.
	b = appendDigits(append(b, '"'), year/100, year%100)
	b = appendDigits(append(b, '-'), int(month))
	b = appendDigits(append(b, '-'), day)
	b = appendDigits(append(b, 'T'), t.Hour())
	b = appendDigits(append(b, ':'), t.Minute())
	b = appendDigits(append(b, ':'), t.Second())
	return append(b, 'Z', '"')
}

func appendDigits(b []byte, pairs ...int) []byte {
	for _, n := range pairs {
		b = append(b, byte('0'+n/10), byte('0'+n%10))
	}
	return b
}

// UnmarshalDateTime accepts RFC 3339 with an offset and nothing else: a time
// without one names no instant. In UTC it lies in the years 1 to 9999, as times do
// in REST and in bundles.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, _ := v.(string)
	t, err := time.Parse(time.RFC3339, text)
	// Package time lets "T1:04:05" and a comma before the fraction pass.
	if err != nil || text[13] != ':' || strings.Contains(text, ",") {
		return time.Time{}, errDateTime
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return time.Time{}, errYear
	}
	return t, nil
}

var errYear = domain.Invalid("", "expected a date-time of the years 1 to 9999 in UTC")

var errDateTime = domain.Invalid("", "expected a date-time in RFC 3339 with an offset, such as 2026-01-02T15:04:05Z")
