package db

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// noPeriod stands where a statement needs no billing period.
var noPeriod = time.Time{}

// getOne runs a query of at most one row; absent is the error for none.
func getOne[T any](ctx context.Context, in sqlx.QueryerContext, absent error, query string, args ...any) (*T, error) {
	var row T
	err := sqlx.GetContext(ctx, in, &row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, absent
	}
	if err != nil {
		return nil, Translate(err)
	}
	return &row, nil
}

func keyed[K comparable, T any](rows []*T, key func(*T) K) map[K]*T {
	byKey := make(map[K]*T, len(rows))
	for _, row := range rows {
		byKey[key(row)] = row
	}
	return byKey
}

// nullableTexts is an array of texts that may hold NULL, as PostgreSQL prints
// it: most cursors of a page are never asked for, so it is read when one is.
type nullableTexts string

func (n nullableTexts) values() []*string {
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

func count(ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (int, error) {
	var n int
	err := sqlx.GetContext(ctx, in, &n, query, args...)
	return n, Translate(err)
}

// countEach runs a query of the columns parent and number.
func countEach[K comparable](ctx context.Context, in sqlx.QueryerContext, query string, args []any) (map[K]int, error) {
	type row struct {
		Parent K
		Number int
	}
	rows, err := selectAll[row](ctx, in, query, args...)
	if err != nil {
		return nil, err
	}
	counts := make(map[K]int, len(rows))
	for _, r := range rows {
		counts[r.Parent] = r.Number
	}
	return counts, nil
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
