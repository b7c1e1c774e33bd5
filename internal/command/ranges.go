package command

import (
	"cmp"
	"fmt"
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
