package db_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/lib/pq"

	"simgraph/db"
	"simgraph/db/dbtest"
)

// moments are as PostgreSQL prints them, and near to that.
var moments = []string{
	"2026-02-28 23:59:59+00", "2026-02-28 23:59:59.9+00", "2026-02-28 23:59:59.000001+00", "2024-02-29 00:00:00.12345+00",
	"0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "12026-01-01 00:00:00+00", "0044-03-15 12:00:00+00 BC",
	"2026-02-28 23:59:59+01", "2026-02-28 23:59:59.5-03:30", "1890-01-01 00:00:00+00:53:28", "2026-02-28 23:59:59",
	"infinity", "-infinity", "", "+00", "2026-02-28", "2026-02-28T23:59:59+00", "2026-02-28 23:59:59.+00", "2026-02-28 23:59:59.1234567+00",
	"2026-0a-28 23:59:59+00", "2026-02-28 23:59:59,5+00",
}

func TestMomentsAreReadAsLibPQReadsThem(t *testing.T) {
	t.Parallel()
	for _, text := range moments {
		want, refused := pq.ParseTimestamp(time.UTC, text)
		got, err := db.MomentOf([]byte(text))
		if (err == nil) != (refused == nil) || err == nil && (!got.Equal(want) || got.Format(time.RFC3339Nano) != want.Format(time.RFC3339Nano)) {
			t.Errorf("%s: got %v, %v; want %v, %v", text, got, err, want, refused)
		}
	}
}

func FuzzMoment(f *testing.F) {
	for _, text := range moments {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := db.UTCOf([]byte(text))
		if !ok {
			return
		}
		want, err := pq.ParseTimestamp(time.UTC, text)
		if err != nil || !got.Equal(want) {
			t.Fatalf("%q: got %v, want %v, %v", text, got, want, err)
		}
	})
}

func TestTextsOutliveTheirRows(t *testing.T) {
	t.Parallel()
	pool := openWith(t, dbtest.URL(t), db.Options{MaxConns: 1})
	type row struct {
		Name  string
		Maybe *string
		Raw   []byte
	}
	const query = "SELECT 'name ' || n AS name, repeat('m', n) AS maybe, decode('00', 'hex') AS raw" + numbered
	for range 3 { // the later over what the former were read from
		rows, err := db.SelectAll[row](t.Context(), pool, query, 300)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.SelectAll[row](t.Context(), pool, query, 900); err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if r.Name != "name "+strconv.Itoa(i+1) || len(*r.Maybe) != i+1 || len(r.Raw) != 1 {
				t.Fatalf("row %d: %+v", i, *r)
			}
		}
	}
}
