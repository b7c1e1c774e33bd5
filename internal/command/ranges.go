package command

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// rangeTag names the tag of the range of a flag, such as range:"1..1000". The
// bounds are written as the flag's value is; the second may be left out.
const rangeTag = "range"

var durationType = reflect.TypeFor[time.Duration]()

// CheckRanges returns an error when a number or a duration of the command line is
// not in the range of its flag.
func CheckRanges(line *kong.Context) error {
	for _, part := range line.Path {
		node := part.Node()
		if node == nil {
			continue
		}
		for _, flag := range node.Flags {
			if err := checkRange(flag); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkRange(flag *kong.Flag) error {
	least, most, ranged := bounds(flag.Value)
	if !ranged {
		return nil
	}
	target := flag.Target
	if target.Kind() == reflect.Pointer {
		if target.IsNil() { // the flag is left out
			return nil
		}
		target = target.Elem()
	}
	values := []reflect.Value{target}
	if target.Kind() == reflect.Slice { // the flag may be given several times
		values = nil
		for _, value := range target.Seq2() {
			values = append(values, value)
		}
	}
	for _, value := range values {
		inside, err := within(value, least, most)
		if err == nil && !inside {
			err = fmt.Errorf("--%s must be %s, not %v", flag.Name, describe(least, most), value.Interface())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func bounds(value *kong.Value) (least, most string, ranged bool) {
	if !value.Tag.Has(rangeTag) {
		return "", "", false
	}
	least, most, _ = strings.Cut(value.Tag.Get(rangeTag), "..")
	return least, most, true
}

func describe(least, most string) string {
	if most == "" {
		return "at least " + least
	}
	return least + " to " + most
}

// within returns whether a value is between the bounds. What is no number is not.
func within(value reflect.Value, least, most string) (bool, error) {
	switch {
	case value.Type() == durationType:
		return between(value.Interface().(time.Duration), least, most, ParseDuration)
	case value.CanInt():
		return between(value.Int(), least, most, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
	case value.CanUint():
		return between(value.Uint(), least, most, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
	default:
		return between(value.Float(), least, most, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	}
}

func between[T cmp.Ordered](value T, least, most string, parse func(string) (T, error)) (bool, error) {
	from, err := parse(least)
	if err != nil {
		return false, err
	}
	if most == "" {
		return value >= from, nil
	}
	to, err := parse(most)
	return from <= value && value <= to, err
}

// HelpOf is the help of a flag with its range.
func HelpOf(value *kong.Value) string {
	least, most, ranged := bounds(value)
	if !ranged {
		return value.Help
	}
	return strings.TrimSuffix(value.Help, ".") + " (" + describe(least, most) + ")."
}

// FormatHelp is HelpOf with the name of the variable, for --help.
func FormatHelp(value *kong.Value) string {
	ranged := *value
	ranged.Help = HelpOf(value)
	return kong.DefaultHelpValueFormatter(&ranged)
}

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
