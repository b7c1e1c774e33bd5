package pg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// NoPeriod stands where a statement needs no billing period.
var NoPeriod = time.Time{}

// SelectAll runs a query and keeps every row, so the statement must be bounded.
func SelectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (rows []*T, err error) {
	err = EachRow(ctx, in, query, args, func(row T) error {
		rows = append(rows, &row)
		return nil
	})
	return rows, err
}

// SelectValues is SelectAll for rows that are used as values.
func SelectValues[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (values []T, err error) {
	err = EachRow(ctx, in, query, args, func(value T) error {
		values = append(values, value)
		return nil
	})
	return values, err
}

// EachRow calls each with one row after the other, and ends with its error.
func EachRow[T any](ctx context.Context, in sqlx.QueryerContext, query string, args []any, each func(T) error) error {
	rows, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = rows.Close() }()
	var row T
	into, err := destinations(rows, &row)
	if err != nil {
		return err
	}
	for rows.Next() {
		row = *new(T)
		if err := rows.Scan(into...); err != nil {
			return Translate(err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return Translate(rows.Err())
}

// destinations returns what Scan writes the columns to: the fields of a struct, which
// sqlx's mapper finds by name, and otherwise the row itself. They serve all rows;
// StructScan would find the fields again for each.
func destinations[T any](rows *sqlx.Rows, row *T) ([]any, error) {
	of := reflect.ValueOf(row).Elem()
	_, scans := any(row).(sql.Scanner)
	if scans || of.Kind() != reflect.Struct || of.Type() == reflect.TypeFor[time.Time]() {
		return []any{row}, nil
	}
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	into := make([]any, len(columns))
	for i, path := range rows.Mapper.TraversalsByName(of.Type(), columns) {
		field, err := of.FieldByIndexErr(path)
		if len(path) == 0 || err != nil { // an error is of a field behind a pointer
			return nil, fmt.Errorf("the column %q has no field in %T", columns[i], *row)
		}
		into[i] = field.Addr().Interface()
	}
	return into, nil
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
