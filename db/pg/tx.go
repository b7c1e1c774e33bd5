package pg

import (
	"context"
	"math/rand/v2"
	"simgraph/domain"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// InTx runs do in a transaction, which it commits when do returns nil and rolls
// back otherwise. Errors are translated.
func InTx(ctx context.Context, pool *sqlx.DB, do func(tx *sqlx.Tx) error) error {
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

// Affected runs a statement and returns how many rows it touched.
func Affected(ctx context.Context, in sqlx.ExecerContext, sql string, args ...any) (int, error) {
	result, err := in.ExecContext(ctx, sql, args...)
	if err != nil {
		return 0, Translate(err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Returned runs a statement and returns how many rows it returns. For INSERT …
// SELECT … ON CONFLICT DO NOTHING that is how many it stored, where it has
// RETURNING: Citus reports as affected those that conflict too.
func Returned(ctx context.Context, in sqlx.QueryerContext, sql string, args ...any) (n int, err error) {
	rows, err := in.QueryxContext(ctx, sql, args...)
	if err != nil {
		return 0, Translate(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	return n, Translate(rows.Err())
}

// TxAttempts bounds how often a transaction is run again after a deadlock.
const TxAttempts = 10

// Retry runs do again when concurrent transactions made it impossible.
func Retry(ctx context.Context, do func() error) error {
	var err error
	for attempt := range TxAttempts {
		if err = do(); pq.As(err, pqerror.TRDeadlockDetected, pqerror.TRSerializationFailure) == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return Translate(ctx.Err())
		case <-time.After(rand.N(10 * time.Millisecond << attempt)):
		}
	}
	return domain.Unavailable(err)
}
