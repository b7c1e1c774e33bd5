package scalar

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/query"
)

// MarshalBigInt writes a 64-bit integer as a decimal string, since clients
// that read JSON numbers as doubles lose digits above 2^53.
func MarshalBigInt(n int64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		var text [22]byte
		_, _ = w.Write(AppendBigInt(text[:0], n))
	})
}

// AppendBigInt appends what MarshalBigInt writes.
func AppendBigInt(b []byte, n int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
}

// UnmarshalBigInt accepts a whole number of 64 bits, as a decimal string
// without leading zeros or plus sign, as an integer literal, or as a JSON number
// of any form: 5.0 and 1e3 are integers there.
func UnmarshalBigInt(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case int32:
		return int64(v), nil
	case int:
		return int64(v), nil
	case json.Number:
		if n, ok := query.ParseInteger(string(v), 64); ok {
			return n, nil
		}
		return 0, errBigInt
	case string:
		return parseBigInt(v)
	default:
		return 0, errBigInt
	}
}

// parseBigInt takes the canonical form only: what it accepts prints back equal.
func parseBigInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, errBigInt
	}
	return n, nil
}

var errBigInt = domain.Invalid("", "expected a whole number from -9223372036854775808 to 9223372036854775807, as decimal string or integer")
