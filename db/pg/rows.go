package pg

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"simgraph/domain"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// NoPeriod stands where a statement needs no billing period.
var NoPeriod = time.Time{}

// SelectAll runs a query and keeps every row, so the statement must be bounded.
func SelectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (rows []*T, err error) {
	err = sqlx.SelectContext(ctx, in, &rows, query, args...)
	return rows, Translate(err)
}

// SelectValues is SelectAll for rows that are used as values.
func SelectValues[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (values []T, err error) {
	err = sqlx.SelectContext(ctx, in, &values, query, args...)
	return values, Translate(err)
}

// EachRow calls each with one row after the other, and ends with its error.
func EachRow[T any](ctx context.Context, in sqlx.QueryerContext, query string, args []any, each func(T) error) error {
	rows, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = rows.Close() }()
	scan := rows.StructScan
	if reflect.TypeFor[T]().Kind() != reflect.Struct {
		scan = func(to any) error { return rows.Scan(to) }
	}
	var row T // reused, so that a row needs no memory of its own
	for rows.Next() {
		row = *new(T)
		if err := scan(&row); err != nil {
			return Translate(err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return Translate(rows.Err())
}

// GetOne runs a query and returns its first row; absent is the error for none.
func GetOne[T any](ctx context.Context, in sqlx.QueryerContext, absent error, query string, args ...any) (*T, error) {
	row := new(T)
	switch err := sqlx.GetContext(ctx, in, row, query, args...); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, absent
	case err != nil:
		return nil, Translate(err)
	}
	return row, nil
}

// Keyed maps rows by their keys.
func Keyed[K comparable, T any](rows []*T, key func(*T) K) map[K]*T {
	byKey := make(map[K]*T, len(rows))
	for _, row := range rows {
		byKey[key(row)] = row
	}
	return byKey
}

// NullableTexts is an array of texts that may hold NULL, as PostgreSQL prints
// it: most cursors of a page are never selected, so it is parsed when one is.
type NullableTexts string

// Values reads the array.
func (n NullableTexts) Values() []*string {
	var array []sql.Null[string]
	if err := (pq.GenericArray{A: &array}).Scan(string(n)); err != nil {
		panic(err) // PostgreSQL reads what it prints
	}
	values := make([]*string, len(array))
	for i, text := range array {
		if text.Valid {
			values[i] = &text.V
		}
	}
	return values
}

// Count runs a query of one number.
func Count(ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (int, error) {
	n, err := GetOne[int](ctx, in, sql.ErrNoRows, query, args...)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// CountEach runs a query of the columns parent and number.
func CountEach[K comparable](ctx context.Context, in sqlx.QueryerContext, query string, args []any) (map[K]int, error) {
	type row struct {
		Parent K
		Number int
	}
	counts := map[K]int{}
	err := EachRow(ctx, in, query, args, func(r row) error {
		counts[r.Parent] = r.Number
		return nil
	})
	return counts, err
}

// FormatInt writes a number in decimal.
func FormatInt(n int64) string { return strconv.FormatInt(n, 10) }

// Pluck returns one field of every item, as an array parameter.
func Pluck[T, V any](items []T, field func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = field(item)
	}
	return values
}

// MapSlice turns the items of a slice into others.
func MapSlice[A, B any](s domain.Slice[A], to func(A) B) domain.Slice[B] {
	items := make([]B, len(s.Items))
	for i, item := range s.Items {
		items[i] = to(item)
	}
	return domain.Slice[B]{Items: items, Cursor: s.Cursor, HasNext: s.HasNext, HasPrevious: s.HasPrevious, Whole: s.Whole}
}

// OrZero returns what p points to, and the zero value where it is nil.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
