// Package scalar holds the strict scalars of the graph.
package scalar

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

var errBigInt = errors.New("a BigInt is a 64-bit integer, written as a decimal string or an integer")

// MarshalBigInt writes a decimal string, since many clients read JSON numbers
// as doubles and would round what exceeds 2^53.
func MarshalBigInt(n int64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = w.Write(strconv.AppendQuote(make([]byte, 0, 24), strconv.FormatInt(n, 10)))
	})
}

// UnmarshalBigInt accepts a decimal string or an integer.
func UnmarshalBigInt(v any) (int64, error) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case int64:
		return v, nil
	case int:
		return int64(v), nil
	default:
		return 0, errBigInt
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errBigInt
	}
	return n, nil
}
