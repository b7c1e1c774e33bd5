package pg

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/domain"
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
		if sessionEnded(err) {
			err = &rolledBack{err}
		}
		return Translate(ended(ctx, err))
	}
	return Translate(ended(ctx, tx.Commit()))
}

// ended returns the error of a context that has ended: the transaction is rolled back with
// it, and says no more than that it is over.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// sessionEnded reports that the server closed the connection. A read that timed out is
// none: to wait that long again would help nobody.
func sessionEnded(err error) bool {
	for _, end := range []error{driver.ErrBadConn, io.EOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// rolledBack is the error of a transaction whose session ended before COMMIT was sent,
// such as one that the server ended because this process was frozen: nothing of it was
// stored. After COMMIT that is not known.
type rolledBack struct{ cause error }

// Error implements error.
func (r *rolledBack) Error() string {
	return "the session ended within the transaction: " + r.cause.Error()
}

// Unwrap returns what the driver said.
func (r *rolledBack) Unwrap() error { return r.cause }

// Affected runs a statement and returns how many rows it touched.
func Affected(ctx context.Context, in sqlx.ExecerContext, sql string, args ...any) (int, error) {
	result, err := in.ExecContext(ctx, sql, args...)
	if err != nil {
		return 0, Translate(err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// DeleteAll repeats a statement that deletes at most so many rows, which is its last
// parameter, until none is left. It returns how many rows that were.
func DeleteAll(ctx context.Context, in sqlx.ExecerContext, most int, sql string, args ...any) (deleted int, err error) {
	for {
		n, err := Affected(ctx, in, sql, append(slices.Clone(args), most)...)
		deleted += n
		if err != nil || n < most {
			return deleted, err
		}
	}
}

// Each runs statements that have the same parameters.
func Each(ctx context.Context, in sqlx.ExecerContext, statements []string, args ...any) error {
	for _, sql := range statements {
		if _, err := Affected(ctx, in, sql, args...); err != nil {
			return err
		}
	}
	return nil
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

// lockAttempts bounds how often one is run that waits for a lock until its timeout:
// more would make its caller wait longer than a statement may run.
const lockAttempts = 2

// Retry runs do again when concurrent transactions made it impossible, or its session
// ended before it was committed.
func Retry(ctx context.Context, do func() error) error {
	var err error
	for attempt := range TxAttempts {
		err = do()
		switch {
		case pq.As(err, pqerror.LockNotAvailable) != nil:
			if attempt+1 >= lockAttempts {
				return err
			}
		case !repeatable(err):
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

func repeatable(err error) bool {
	_, lost := errors.AsType[*rolledBack](err)
	return lost || pq.As(err, pqerror.TRDeadlockDetected, pqerror.TRSerializationFailure) != nil
}
