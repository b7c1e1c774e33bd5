package keyset_test

import (
	"testing"
	"unicode/utf8"

	"simgraph/db/dbtest"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// What a forged cursor brings must be what PostgreSQL can read, or else the
// caller's mistake would be reported as a failure of the service.
func FuzzCursorValue(f *testing.F) {
	pool, err := pg.Open(f.Context(), dbtest.URL(f), pg.Options{MaxConns: 2})
	fatal.If(f, err)
	f.Cleanup(func() { _ = pool.Close() })
	for _, value := range []string{
		"1", "-9223372036854775808", "+1", "1.5", "0x1p-2", "1e400", "NaN", "-Inf", "1_000", ".", "t", "TRUE", "yes", "",
		"2026-11-20T12:00:00.000000Z", "0000-01-01T00:00:00Z", "2026-11-20T12:00:00+23:59", "2026-11-20T12:00:00,5Z", "9999-12-31T23:59:60Z", "a\x00b",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) {
			return // what JSON is read to
		}
		for _, of := range []query.Type{query.Integer, query.Number, query.Boolean, query.Time, query.Text} {
			sqlType, taken := keyset.ReadsCursor(of, value)
			if !taken {
				continue
			}
			if _, err := pool.ExecContext(t.Context(), "SELECT CAST($1::text AS "+sqlType+")", value); err != nil {
				t.Errorf("%q as %s: %v", value, sqlType, err)
			}
		}
	})
}
