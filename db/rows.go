package db

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// noPeriod stands where a statement needs no billing period.
var noPeriod = time.Time{}

// getOne runs a query of at most one row; absent is the error for none.
func getOne[T any](ctx context.Context, in sqlx.QueryerContext, absent error, query string, args ...any) (*T, error) {
	rows, err := selectAll[T](ctx, in, query, args...)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, absent
	}
	return rows[0], nil
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
	n, err := getOne[int](ctx, in, sql.ErrNoRows, query, args...)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// countEach runs a query of the columns parent and number.
func countEach[K comparable](ctx context.Context, in sqlx.QueryerContext, query string, args []any) (map[K]int, error) {
	type row struct {
		Parent K
		Number int
	}
	counts := map[K]int{}
	err := eachRow(ctx, in, query, args, func(r row) error {
		counts[r.Parent] = r.Number
		return nil
	})
	return counts, err
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
