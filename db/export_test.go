package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain/query"
)

// Names for the tests of package db_test.
type Column = column

var CompileFilter = compileFilter

// Impatient gives up soon on locks that others hold.
func (m *Migrations) Impatient(wait, pause time.Duration, attempts int) *Migrations {
	m.patience = lockPatience{lock: wait, pause: pause, attempts: attempts, turns: 1}
	return m
}

func NewColumn(sql, masked string) Column { return column{sql: sql, masked: masked} }

// VerifyAuditIn is AuditLog.Verify within a transaction.
var VerifyAuditIn = verifyAudit

// RefusalsCounted is how many counts the store remembers.
func RefusalsCounted(a *Access) int { return len(a.refused.counted) }

func SelectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) ([]*T, error) {
	return selectAll[T](ctx, in, query, args...)
}

func SelectValues[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) ([]T, error) {
	return selectValues[T](ctx, in, query, args...)
}

func EachRow[T any](ctx context.Context, in sqlx.QueryerContext, query string, args []any, each func(T) error) error {
	return eachRow(ctx, in, query, args, each)
}

// ReadsCursor tells whether a cursor may bring the value, and what it is then cast to.
func ReadsCursor(of query.Type, value string) (sqlType string, taken bool) {
	key := listKey{Order: query.Order{Field: query.Field{Type: of}}}
	return key.sqlType(), key.reads(&value)
}
