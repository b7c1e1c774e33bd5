package command

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// ParseDuration reads a duration as time.ParseDuration does, also with days of 24
// hours in front: 90d, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	number, rest, has := strings.Cut(text, "d")
	if !has {
		return time.ParseDuration(text)
	}
	days, err := strconv.ParseUint(number, 10, 32)
	if err != nil || days > uint64(math.MaxInt64/day) {
		return 0, fmt.Errorf("%q is no duration such as 90d, 12h or 30s", text)
	}
	length := time.Duration(days) * day
	if rest == "" {
		return length, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || length+more < length {
		return 0, fmt.Errorf("%q is no duration such as 90d, 12h or 30s", text)
	}
	return length + more, nil
}

// Durations lets every flag of a duration take days.
func Durations() kong.Option {
	return kong.TypeMapper(durationType, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
			return err
		}
		length, err := ParseDuration(text)
		target.SetInt(int64(length))
		return err
	}))
}
