package scalar

import (
	"errors"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

var errDateTime = errors.New("a DateTime is written in RFC 3339 with its offset, such as 2026-11-01T10:05:00Z")

// MarshalDateTime writes UTC in RFC 3339.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		quoted := append(make([]byte, 0, len(time.RFC3339Nano)+2), '"')
		_, _ = w.Write(append(t.UTC().AppendFormat(quoted, time.RFC3339Nano), '"'))
	})
}

// UnmarshalDateTime accepts RFC 3339 with an offset.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, isText := v.(string)
	if !isText {
		return time.Time{}, errDateTime
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, errDateTime
	}
	return t, nil
}
