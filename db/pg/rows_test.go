package pg_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

type colour string

// everyKind has a field of each kind that columns are read into.
type everyKind struct {
	Text      string
	Named     colour
	Address   string
	Truth     bool
	Small     int16
	Middle    int32
	Number    int
	Large     int64
	Decimal   int64
	Fraction  float64
	Moment    time.Time
	Raw       []byte
	Identity  uuid.UUID
	Texts     pq.StringArray
	MaybeText *string
	MaybeName *colour
	MaybeTrue *bool
	MaybeInt  *int
	MaybeLong *int64
	MaybeTime *time.Time
}

const (
	everyColumn = `
SELECT 'é"\' AS text, 'red' AS named, inet '10.0.0.1' AS address, true AS truth, 7::smallint AS small, -7::int AS middle, 8::int AS number,
  9223372036854775807 AS large, 12::numeric AS decimal, 0.5::float8 AS fraction, timestamptz '2026-02-28 23:59:59.999999+00' AS moment,
  '\x0001ff'::bytea AS raw, uuid '00010203-0405-0607-0809-0a0b0c0d0e0f' AS identity, ARRAY['a', 'b,c'] AS texts,`
	withValues = ` 'x' AS maybe_text, 'blue' AS maybe_name, false AS maybe_true, 1::int AS maybe_int, 2::bigint AS maybe_long, timestamptz 'epoch' AS maybe_time`
	withNulls  = ` NULL AS maybe_text, NULL AS maybe_name, NULL::bool AS maybe_true, NULL::int AS maybe_int, NULL::bigint AS maybe_long, NULL::timestamptz AS maybe_time`
	numbered   = ` FROM generate_series(1, $1::int) AS n`
	// endless makes its rows as they are read.
	endless = `SELECT repeat('x', 1000 + (generate_series(1, $1::bigint) - 1)::int % 2)`
)

func everyValue() everyKind {
	return everyKind{
		Text: `é"\`, Named: "red", Address: "10.0.0.1", Truth: true, Small: 7, Middle: -7, Number: 8, Large: 9223372036854775807, Decimal: 12,
		Fraction: 0.5, Moment: time.Date(2026, 2, 28, 23, 59, 59, 999999000, time.UTC), Raw: []byte{0, 1, 255},
		Identity: uuid.UUID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, Texts: pq.StringArray{"a", "b,c"},
	}
}

// eachDoor runs do on a pool, again on its connection, which has the statements
// prepared then, on one whose server sends nothing but text, on one behind a
// pooler and in a transaction: rows take other ways to each.
func eachDoor(t *testing.T, do func(t *testing.T, in sqlx.QueryerContext)) {
	address := dbtest.URL(t)
	for name, door := range map[string]struct {
		parameters string
		opt        pg.Options
	}{
		"pool": {opt: pg.Options{MaxConns: 1}}, "pooler": {opt: pg.Options{Pooler: true}},
		"text": {parameters: "&disable_prepared_binary_result=yes", opt: pg.Options{MaxConns: 1}},
	} {
		pool := openWith(t, address+door.parameters, door.opt)
		t.Run(name, func(t *testing.T) { do(t, pool) })
		t.Run(name+" again", func(t *testing.T) { do(t, pool) })
	}
	t.Run("transaction", func(t *testing.T) {
		tx := openWith(t, address, pg.Options{}).MustBeginTx(t.Context(), nil)
		defer tx.Rollback()
		do(t, tx)
	})
}

func openWith(t *testing.T, address string, opt pg.Options) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), address, opt)
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func TestEveryKindOfColumnIsRead(t *testing.T) {
	t.Parallel()
	full := everyValue()
	full.MaybeText, full.MaybeName, full.MaybeTrue, full.MaybeInt, full.MaybeLong = new("x"), new(colour("blue")), new(false), new(1), new(int64(2))
	full.MaybeTime = new(time.Unix(0, 0).UTC())
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		for columns, want := range map[string]everyKind{withNulls: everyValue(), withValues: full} {
			rows, err := pg.SelectAll[everyKind](t.Context(), in, everyColumn+columns+numbered, 300)
			if err != nil || len(rows) != 300 {
				t.Fatal(len(rows), err)
			}
			for i, got := range rows {
				got.Moment = got.Moment.UTC()
				if got.MaybeTime != nil {
					got.MaybeTime = new(got.MaybeTime.UTC())
				}
				if !reflect.DeepEqual(*got, want) {
					t.Fatalf("row %d: got %+v, want %+v", i, *got, want)
				}
			}
		}
	})
}

func TestSingleColumnsNeedNoStruct(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		numbers, err := pg.SelectValues[int64](t.Context(), in, "SELECT n"+numbered, 3)
		if err != nil || !reflect.DeepEqual(numbers, []int64{1, 2, 3}) {
			t.Error(numbers, err)
		}
		none, err := pg.SelectValues[colour](t.Context(), in, "SELECT 'x'"+numbered, 0)
		if err != nil || len(none) != 0 {
			t.Error(none, err)
		}
	})
}

func TestAColumnThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		for columns, complaint := range map[string]string{
			"NULL::text AS text":        "NULL",
			"NULL::bool AS truth":       "<nil>",
			"NULL::bigint AS large":     "NULL",
			"NULL::int AS number":       "NULL",
			"40000 AS small":            "out of range",
			"3000000000 AS middle":      "out of range",
			"'many' AS large":           "invalid syntax",
			"1 AS unknown":              `"unknown"`,
			"'x'::text AS moment":       "time.Time",
			"ARRAY['a', NULL] AS texts": "string",
		} {
			_, err := pg.SelectAll[everyKind](t.Context(), in, "SELECT "+columns+numbered, 2)
			if err == nil || !strings.Contains(err.Error(), complaint) {
				t.Errorf("%s: got %v, want %q", columns, err, complaint)
			}
		}
		type strange struct{ Text struct{ Inner chan int } }
		if _, err := pg.SelectAll[strange](t.Context(), in, "SELECT 'x' AS text"+numbered, 1); err == nil {
			t.Error("a column was read into a struct")
		}
		if numbers, err := pg.SelectValues[int](t.Context(), in, "SELECT n"+numbered, 1); err != nil || len(numbers) != 1 {
			t.Error("afterwards: ", numbers, err)
		}
	})
}

func TestWhoReadsRowsCanStop(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		var seen int
		err := pg.EachRow(t.Context(), in, "SELECT n"+numbered, []any{1000}, func(n int) error {
			if seen = n; n == 10 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || seen != 10 {
			t.Errorf("%d: %v", seen, err)
		}
		if numbers, err := pg.SelectValues[int](t.Context(), in, "SELECT n"+numbered, 1); err != nil || len(numbers) != 1 {
			t.Error("afterwards: ", numbers, err)
		}
	})
}

func TestAPanicAmongRowsLeavesThePoolWhole(t *testing.T) {
	t.Parallel()
	pool := openWith(t, dbtest.URL(t), pg.Options{MaxConns: 1})
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = pg.EachRow(t.Context(), pool, "SELECT n"+numbered, []any{1000}, func(int) error { panic("no") })
		}()
	}
	if numbers, err := pg.SelectValues[int](t.Context(), pool, "SELECT n"+numbered, 1); err != nil || len(numbers) != 1 {
		t.Error(numbers, err)
	}
}

func TestAContextThatEndsAmongRowsIsUnavailable(t *testing.T) {
	t.Parallel()
	pool := openWith(t, dbtest.URL(t), pg.Options{MaxConns: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := pg.EachRow(ctx, pool, endless, []any{1_000_000_000}, func(string) error {
		cancel()
		return nil
	})
	if fault, ok := domain.AsError(err); !ok || fault.Kind != domain.KindUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := pg.SelectAll[int](ctx, pool, "SELECT n"+numbered, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
	if numbers, err := pg.SelectValues[int](t.Context(), pool, "SELECT n"+numbered, 1); err != nil || len(numbers) != 1 {
		t.Error("afterwards: ", numbers, err)
	}
}

// kill ends the server's processes of a pool.
func kill(t *testing.T, address string) {
	t.Helper()
	other := openWith(t, address, pg.Options{MaxConns: 1})
	const all = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	if _, err := other.ExecContext(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

func TestAConnectionThatDiedIdleIsReplaced(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool := openWith(t, address, pg.Options{})
	for range 3 {
		if numbers, err := pg.SelectValues[int](t.Context(), pool, "SELECT n"+numbered, 2); err != nil || len(numbers) != 2 {
			t.Fatal(numbers, err)
		}
		kill(t, address)
	}
}

func TestAConnectionThatDiesAmongRowsIsNoEndOfThem(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool := openWith(t, address, pg.Options{})
	var seen int
	err := pg.EachRow(t.Context(), pool, endless, []any{1_000_000_000}, func(string) error {
		if seen++; seen == 1 {
			kill(t, address)
		}
		return nil
	})
	if fault, ok := domain.AsError(err); !ok || fault.Kind != domain.KindUnavailable {
		t.Errorf("after %d rows: %v", seen, err)
	}
	if numbers, err := pg.SelectValues[int](t.Context(), pool, "SELECT n"+numbered, 1); err != nil || len(numbers) != 1 {
		t.Error("afterwards: ", numbers, err)
	}
}

// loud is an argument that database/sql would ask for its value.
type loud struct{ of fmt.Stringer }

func TestArgumentsAreThoseOfDatabaseSQL(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		const query = "SELECT concat_ws(' ', $1::text, $2::bigint, $3::bigint[]::text, $4::text IS NULL, $5::timestamptz = 'epoch')"
		got, err := pg.SelectValues[string](t.Context(), in, query, colour("red"), int32(5), pq.Int64Array{1, 2}, (*string)(nil), time.Unix(0, 0))
		if err != nil || !reflect.DeepEqual(got, []string{"red 5 {1,2} t t"}) {
			t.Error(got, err)
		}
		if _, err := pg.SelectAll[string](t.Context(), in, "SELECT $1::text", loud{netip.Addr{}}); err == nil {
			t.Error("a struct was an argument")
		}
	})
}

func TestTypesThatOnlyLibPQReadsAreLeftToIt(t *testing.T) {
	t.Parallel()
	type row struct {
		Moment time.Time
		Raw    []byte
		Text   *string
	}
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		rows, err := pg.SelectAll[row](t.Context(), in, "SELECT DATE '2026-02-28' AS moment, 'infinity'::timestamp AS raw, 'x' AS text"+numbered, 3)
		if err != nil || len(rows) != 3 {
			t.Fatal(len(rows), err)
		}
		if got := rows[2]; !got.Moment.Equal(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)) || string(got.Raw) != "infinity" || *got.Text != "x" {
			t.Errorf("got %+v", *got)
		}
	})
}

func TestArraysOfNumbersAreArguments(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, in sqlx.QueryerContext) {
		for want, numbers := range map[string]pq.Int64Array{
			"none": nil, "{}": {}, "{7}": {7}, "{-9223372036854775808,0,9223372036854775807}": {math.MinInt64, 0, math.MaxInt64},
		} {
			got, err := pg.SelectValues[string](t.Context(), in, "SELECT coalesce($1::bigint[]::text, 'none')", numbers)
			if err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("got %q, %v; want %s", got, err, want)
			}
		}
	})
}
