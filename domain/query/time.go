package query

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"simgraph/domain/ascii"
)

// Interval is a moment as a caller writes it: an instant, with To equal to From,
// or for a date alone that whole UTC day, half-open [From, To).
type Interval struct{ From, To time.Time }

// IsInstant is true for a date-time, false for a date alone.
func (i Interval) IsInstant() bool { return i.From.Equal(i.To) }

func (i Interval) utc() Interval { return Interval{From: i.From.UTC(), To: i.To.UTC()} }

func (i Interval) String() string {
	if i.IsInstant() {
		return i.From.UTC().Format(time.RFC3339Nano)
	}
	return i.From.UTC().Format(time.DateOnly)
}

var errTime = errors.New("a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected")

// ParseInterval reads a date, or a date-time of RFC 3339 whose offset may also be
// written ±hhmm or be missing (UTC). A blank before an offset hh:mm is the plus
// that URL decoding took away. Fractions have up to nine digits and are cut to
// microseconds; years are 1 to 9999. A date-time keeps the offset it was written in.
func ParseInterval(s string) (Interval, error) {
	if fits(s, "0000-00-00") {
		day, err := time.Parse(time.DateOnly, s)
		if err != nil || !yearFits(day) {
			return Interval{}, fmt.Errorf("no such day; %w", errTime)
		}
		return Interval{From: day, To: day.AddDate(0, 0, 1)}, nil
	}
	clock, offset, ok := cutDateTime(s)
	if !ok {
		return Interval{}, errTime
	}
	zone, err := parseOffset(offset)
	if err != nil {
		return Interval{}, err
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", clock, zone)
	if err != nil || !yearFits(at) {
		return Interval{}, fmt.Errorf("no such moment; %w", errTime)
	}
	at = at.Truncate(time.Microsecond)
	return Interval{From: at, To: at}, nil
}

func yearFits(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9999
}

// cutDateTime splits a date-time into its clock, with a capital T, and its offset.
// Only the shape is checked; the offset may be anything.
func cutDateTime(s string) (clock, offset string, ok bool) {
	const whole = len("0000-00-00T00:00:00")
	if len(s) < whole || !fits(ascii.Upper(s[:whole]), "0000-00-00T00:00:00") {
		return "", "", false
	}
	end := whole
	if rest := s[whole:]; strings.HasPrefix(rest, ".") {
		digits := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789"))
		if digits < 1 || digits > 9 {
			return "", "", false
		}
		end += 1 + digits
	}
	return s[:10] + "T" + s[11:end], s[end:], true
}

// parseOffset reads what follows the clock of a date-time; nothing is UTC.
func parseOffset(s string) (*time.Location, error) {
	switch {
	case s == "", s == "Z", s == "z":
		return time.UTC, nil
	case fits(s, "+00:00"), fits(s, "-00:00"), fits(s, " 00:00"), fits(s, "+0000"), fits(s, "-0000"):
	default:
		return nil, fmt.Errorf("the offset is not Z or ±hh:mm; %w", errTime)
	}
	hours, _ := strconv.Atoi(s[1:3])
	minutes, _ := strconv.Atoi(s[len(s)-2:])
	if hours > 23 || minutes > 59 {
		return nil, errors.New("no such offset: hours go to 23, minutes to 59")
	}
	seconds := (hours*60 + minutes) * 60
	switch {
	case seconds == 0:
		return time.UTC, nil
	case s[0] == '-':
		seconds = -seconds
	}
	return time.FixedZone("", seconds), nil
}

// fits reports whether s has the shape: 0 stands for a digit, the rest for itself.
func fits(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		isDigit := s[i] >= '0' && s[i] <= '9'
		if shape[i] == '0' && !isDigit || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}
