package stmtcache_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/stmtcache"
)

// running counts the statements that begin like text and that the server runs in
// the watcher's database: other tests run the same at the same time.
const running = `
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE $1`

// eventually waits until the server runs that many.
func eventually(t *testing.T, watcher *sql.DB, text string, want int) {
	t.Helper()
	for number(t, watcher, running, text) != want {
		select {
		case <-t.Context().Done():
			t.Fatalf("the server never ran %d of %s", want, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestAWatchedQueryEndsInTheServerWhenItsContextDoes(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"prepared": 8, "not prepared": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := dbtest.URL(t)
			db, watcher := open(t, address, size), open(t, address, 8)
			before := number(t, db, "SELECT pg_backend_pid()")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := read(ctx, t, db, new(numbers), "SELECT pg_sleep($1)", 600.0)
				ended <- err
			}()
			eventually(t, watcher, "SELECT pg_sleep%", 1)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			eventually(t, watcher, "SELECT pg_sleep%", 0)
			if after := number(t, db, "SELECT pg_backend_pid()"); size > 0 && after != before {
				t.Error("the connection was given up")
			}
		})
	}
}

// cancelling ends the context at the tenth row.
type cancelling struct {
	numbers
	cancel func()
}

func (c *cancelling) Row(values []driver.Value) error {
	if len(c.read) == 9 {
		c.cancel()
	}
	return c.numbers.Row(values)
}

func TestAWatchedQueryEndsAmongItsRows(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows := cancelling{cancel: cancel}
	began, err := read(ctx, t, db, &rows, "SELECT generate_series(1, $1::int), repeat('x', 1000)", int64(1_000_000_000))
	if !began || !errors.Is(err, context.Canceled) {
		t.Errorf("began %t, %v", began, err)
	}
	if got := number(t, db, "SELECT $1::int", 1); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestAContextThatHasEndedRunsNoWatchedQuery(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if began, err := read(ctx, t, db, new(numbers), "SELECT pg_sleep($1)", 600.0); began || !errors.Is(err, context.Canceled) {
		t.Errorf("began %t, %v", began, err)
	}
}

func TestAnInterruptionNeverMeetsTheNextStatement(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	for i := range 100 {
		// Ends at any moment of the query, and after it.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
		if _, err := read(ctx, t, db, new(numbers), "SELECT g, pg_sleep(0.0001) FROM generate_series(1, $1::int) g", int64(5)); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
		if got := number(t, db, "SELECT $1::int", i); got != i {
			t.Fatalf("got %d", got)
		}
	}
}

func TestAProcessThatOnlyHasTheNumberIsNotInterrupted(t *testing.T) {
	t.Parallel()
	const lock, unlock = "SELECT count(pg_advisory_lock($1))", "SELECT count(pg_advisory_unlock($1))"
	address := dbtest.URL(t)
	db, other, watcher := open(t, address, 8), open(t, address, 8), open(t, address, 8)
	pid := number(t, other, "SELECT pg_backend_pid()")
	conn, err := db.Conn(t.Context())
	must(t, err)
	must(t, conn.Raw(func(c any) error { stmtcache.ServedBy(c, int64(pid)); return nil }))
	must(t, conn.Close())

	number(t, watcher, lock, 1)
	number(t, watcher, lock, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waited, others := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := read(ctx, t, db, new(numbers), lock, int64(1))
		waited <- err
	}()
	go func() {
		_, err := read(t.Context(), t, other, new(numbers), lock, int64(2))
		others <- err
	}()
	eventually(t, watcher, "SELECT count(pg_advisory_lock%", 2)
	cancel()
	number(t, watcher, unlock, 1)
	must(t, <-waited) // and with it for the interruption that is on its way
	number(t, watcher, unlock, 2)
	if err := <-others; err != nil {
		t.Errorf("another connection was interrupted: %v", err)
	}
}
