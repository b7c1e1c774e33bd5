package plan

import (
	"math"
	"strconv"
)

const null = "null"

// AppendString appends as graphql.MarshalString writes.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '\\' && c != '"' {
			continue
		}
		b = append(append(b, s[start:i]...), '\\')
		b = appendEscaped(b, c)
		start = i + 1
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	switch c {
	case '\\', '"':
		return append(b, c)
	case '\t':
		return append(b, 't')
	case '\r':
		return append(b, 'r')
	case '\n':
		return append(b, 'n')
	}
	return append(b, 'u', '0', '0', digits[c>>4], digits[c&0xF])
}

// AppendInt appends as graphql.MarshalInt and its kin write.
func AppendInt[T int | int8 | int16 | int32 | int64](b []byte, n T) []byte {
	return strconv.AppendInt(b, int64(n), 10)
}

// AppendBoolean appends as graphql.MarshalBoolean writes.
func AppendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendFloat appends as graphql.MarshalFloatContext writes. It panics at what
// JSON has no number for.
func AppendFloat(b []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		panic("a float that is no number of JSON")
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
