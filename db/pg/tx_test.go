package pg_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// counted is a table with one counter.
func counted(t *testing.T, opt pg.Options) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), opt)
	fatal.If(t, err)
	t.Cleanup(func() { pool.Close() })
	pool.MustExec(`CREATE TABLE counter AS SELECT 0 AS n`)
	return pool
}

const count = `UPDATE counter SET n = n + 1`

// A process that is frozen within a transaction loses its session, and others their
// wait. It does its work again when it goes on, and none of it twice.
func TestATransactionThatWasIdleForTooLongRunsAgain(t *testing.T) {
	t.Parallel()
	const idle = 200 * time.Millisecond
	pool := counted(t, pg.Options{IdleTimeout: idle})
	attempts := 0
	work := func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(t.Context(), count); err != nil {
			return err
		}
		if attempts++; attempts == 1 {
			time.Sleep(4 * idle)
		}
		_, err := tx.ExecContext(t.Context(), count)
		return err
	}
	err := pg.Retry(t.Context(), func() error { return pg.InTx(t.Context(), pool, work) })
	var n int
	if failed := pool.GetContext(t.Context(), &n, `SELECT n FROM counter`); err != nil || failed != nil || n != 2 || attempts != 2 {
		t.Errorf("%d after %d attempts: %v, %v", n, attempts, err, failed)
	}
}

// Whether a transaction was stored is not known when its session ends at COMMIT: it is
// not run again.
func TestATransactionThatEndsAtItsCommitIsNotRunAgain(t *testing.T) {
	t.Parallel()
	const idle = 200 * time.Millisecond
	pool := counted(t, pg.Options{IdleTimeout: idle})
	attempts := 0
	err := pg.Retry(t.Context(), func() error {
		return pg.InTx(t.Context(), pool, func(tx *sqlx.Tx) error {
			attempts++
			_, err := tx.ExecContext(t.Context(), count)
			time.Sleep(4 * idle)
			return err
		})
	})
	if !isUnavailable(err) || attempts != 1 {
		t.Errorf("%d attempts: %v", attempts, err)
	}
}

func TestALockThatIsNotFreeInTimeIsUnavailable(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	pool := counted(t, pg.Options{LockTimeout: limit})
	holder := pool.MustBegin()
	defer func() { _ = holder.Rollback() }()
	holder.MustExec(count)
	attempts := 0
	err := pg.Retry(t.Context(), func() error {
		return pg.InTx(t.Context(), pool, func(tx *sqlx.Tx) error {
			attempts++
			_, err := tx.ExecContext(t.Context(), count)
			return err
		})
	})
	if !isUnavailable(err) || attempts != 2 {
		t.Errorf("%d attempts: %v", attempts, err)
	}
}

// Poolers set none of them by themselves, and serve warns of what is missing.
func TestTimeoutsThatSessionsLackAreNamed(t *testing.T) {
	t.Parallel()
	opt := pg.Options{Pooler: true, StatementTimeout: time.Second, LockTimeout: time.Second, IdleTimeout: time.Second}
	pool, err := pg.Open(t.Context(), dbtest.URL(t)+"&lock_timeout=5000&idle_in_transaction_session_timeout=0", opt)
	fatal.If(t, err)
	defer pool.Close()
	names, err := opt.Unset(t.Context(), pool)
	if want := []string{"idle_in_transaction_session_timeout", "statement_timeout"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, want %q", names, err, want)
	}
}

func isUnavailable(err error) bool {
	public, ok := domain.AsError(err)
	return ok && public.Kind == domain.KindUnavailable
}

// A context that ends within a transaction is what its error says.
func TestATransactionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	pool := counted(t, pg.Options{})
	for name, work := range map[string]func(tx *sqlx.Tx, stop context.CancelFunc) error{
		"before a statement": func(tx *sqlx.Tx, stop context.CancelFunc) error {
			stop()
			time.Sleep(50 * time.Millisecond) // it is rolled back meanwhile
			_, err := tx.Exec(`SELECT 1`)
			return err
		},
		"before the end": func(_ *sqlx.Tx, stop context.CancelFunc) error {
			stop()
			time.Sleep(50 * time.Millisecond)
			return nil
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		err := pg.InTx(ctx, pool, func(tx *sqlx.Tx) error { return work(tx, stop) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		stop()
	}
}
