// Package scalar has the scalars of the graph that Go has no type for.
package scalar

import (
	"encoding/json"
	"strconv"
)

// BigInt is a number of 64 bits, such as bytes: a decimal string in JSON, which has no such numbers.
type BigInt int64

// MarshalJSON implements json.Marshaler.
func (n BigInt) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(n), 10)) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *BigInt) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	*n = BigInt(value)
	return err
}
