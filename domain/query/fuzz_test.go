package query

import (
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"
)

func FuzzParseFilter(f *testing.F) {
	for _, text := range []string{
		`physicalId eq 894410 and lineRental gt 12 or not (nickname like "a\"b" and tags in ('x''y', z))`,
		"terminateDate gt 2024-01-31T00:00:00 01:00", "terminateDate in (2024-02-29, null)", "signal le -00.50",
		"not not isBarred eq true and networkState.isOnline ne null", "((((tags ne é))))", "nickname eq Vodafone UK and nickname in (AT&T, O'Neil)", "nickname eq \"a\xff\"", "nickname eq 'x",
		"lineRental eq 1e9223372036854775807", "lineRental in (-0, 1e400000000, 0.5e-9223372036854775808)", "signal gt 1e400000000",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseFilter(text, testFields)
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		if err := Check(e); err != nil {
			t.Fatalf("%q is parsed, then refused: %v", text, err)
		}
		if e == nil || len(e.String()) > MaxBytes { // quotes and zones can lengthen it
			return
		}
		again, err := ParseFilter(e.String(), testFields)
		if err != nil || !reflect.DeepEqual(again, e) || again.String() != e.String() {
			t.Fatalf("%q prints as %q, which is %v, %v", text, e, again, err)
		}
	})
}

func FuzzParseOrder(f *testing.F) {
	for _, text := range []string{"nickname", "lineRental ASC, tariff desc", "nickname,,", "tags DESC", "é", "nickname\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ParseOrder(text, testFields)
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		if len(keys) > len(testFields.All()) {
			t.Fatalf("%d keys", len(keys))
		}
		again, err := ParseOrder(orderText(keys), testFields)
		if err != nil || !reflect.DeepEqual(again, keys) {
			t.Fatalf("%q prints as %q, which is %v, %v", text, orderText(keys), again, err)
		}
	})
}

func FuzzParseInterval(f *testing.F) {
	for _, text := range []string{"2024-01-31", "2024-01-31T10:20:30.5+05:30", "2024-01-31T10:20:30 01:00", "9999-12-31"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		interval, err := ParseInterval(text)
		if err != nil {
			return
		}
		again, err := ParseInterval(interval.String())
		if err != nil || again != interval.utc() || interval.To.Before(interval.From) {
			t.Fatalf("%q prints as %q, which is %v, %v", text, interval, again, err)
		}
	})
}

// checkPlace demands an error of bounded size that points into the text, or just
// behind it.
func checkPlace(t *testing.T, text string, err error) {
	t.Helper()
	e, ok := errors.AsType[*SyntaxError](err)
	switch {
	case !ok:
		t.Fatalf("no *SyntaxError: %v", err)
	case e.Column < 1 || e.Column > utf8.RuneCountInString(text)+1:
		t.Fatalf("column %d of %q", e.Column, text)
	case e.Reason == "" || len(err.Error()) > 2000:
		t.Fatalf("error %q", err)
	}
}
