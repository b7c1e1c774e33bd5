package scalar_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"simgraph/graph/scalar"
	"simgraph/internal/fatal"
)

func TestDateTimeIsWrittenInUTC(t *testing.T) {
	east := time.FixedZone("", 2*3600)
	for want, at := range map[string]time.Time{
		`"2026-01-02T13:04:05Z"`:        time.Date(2026, 1, 2, 15, 4, 5, 0, east),
		`"2026-01-02T13:04:05.000001Z"`: time.Date(2026, 1, 2, 13, 4, 5, 1000, time.UTC),
	} {
		var b bytes.Buffer
		scalar.MarshalDateTime(at).MarshalGQL(&b)
		if b.String() != want {
			t.Errorf("got %s, want %s", b.String(), want)
		}
	}
}

func TestDateTimeNeedsAnOffset(t *testing.T) {
	accepted := []any{"2026-01-02T15:04:05Z", "2026-01-02T15:04:05.123+05:30", "2026-01-02T15:04:05-00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+23:59"}
	for _, v := range accepted {
		if _, err := scalar.UnmarshalDateTime(v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
	refused := []any{
		"", "2026-01-02", "2026-01-02T15:04:05", "2026-01-02 15:04:05Z", "2026-1-2T15:04:05Z", "2026-01-02T1:04:05Z",
		"2026-02-30T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T15:04:05,5Z", "2026-01-02T15:04:05+0100",
		"0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
		" 2026-01-02T15:04:05Z", "12026-01-02T15:04:05Z", int64(5), json.Number("5"), nil, true,
	}
	for _, v := range refused {
		if _, err := scalar.UnmarshalDateTime(v); err == nil {
			t.Errorf("%v was accepted", v)
		}
	}
}

func TestBigIntKeepsAllDigits(t *testing.T) {
	for _, text := range []string{"0", "-1", "9223372036854775807", "-9223372036854775808"} {
		n, err := scalar.UnmarshalBigInt(text)
		fatal.If(t, err)
		var b bytes.Buffer
		scalar.MarshalBigInt(n).MarshalGQL(&b)
		if b.String() != `"`+text+`"` {
			t.Errorf("%s became %s", text, b.String())
		}
	}
}

func TestBigIntTakesIntegersOnly(t *testing.T) {
	for _, v := range []any{"12", json.Number("12"), json.Number("12.0"), json.Number("1.2e1"), 12, int32(12), int64(12)} {
		if n, err := scalar.UnmarshalBigInt(v); err != nil || n != 12 {
			t.Errorf("%v: %d, %v", v, n, err)
		}
	}
	for _, v := range []any{"", "+1", "01", "-0", "1.0", "1e3", " 1", "0x1", "9223372036854775808", json.Number("1.5"), json.Number("1e19"), 1.0, nil, true, []any{}} {
		if _, err := scalar.UnmarshalBigInt(v); err == nil {
			t.Errorf("%v was accepted", v)
		}
	}
}
