package db

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// inTx runs do in a transaction, which it commits when do returns nil and rolls
// back otherwise. Errors are translated.
func inTx(ctx context.Context, pool *sqlx.DB, do func(tx *sqlx.Tx) error) error {
	tx, err := pool.BeginTxx(ctx, nil)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := do(tx); err != nil {
		return Translate(err)
	}
	return Translate(tx.Commit())
}

// affected runs a statement and returns how many rows it touched.
func affected(ctx context.Context, in sqlx.ExecerContext, sql string, args ...any) (int, error) {
	result, err := in.ExecContext(ctx, sql, args...)
	if err != nil {
		return 0, Translate(err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}
