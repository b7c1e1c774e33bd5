package stmtcache_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"simgraph/db/dbtest"
)

// running counts the statements that are like a text and that the server runs in
// the database.
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

func TestAQueryEndsInTheServerWhenItsContextDoes(t *testing.T) {
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
				ended <- read(ctx, db, new(numbers), "SELECT pg_sleep($1)", 600.0)
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

func TestAQueryEndsAmongItsRows(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var rows numbers
	rows.each = func() error {
		if len(rows.read) == 10 {
			cancel()
		}
		return nil
	}
	err := read(ctx, db, &rows, "SELECT generate_series(1, $1::int), repeat('x', 1000)", int64(1_000_000_000))
	if !errors.Is(err, context.Canceled) || len(rows.read) < 10 {
		t.Errorf("%d rows, %v", len(rows.read), err)
	}
	if got := number(t, db, "SELECT $1::int", 1); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestAContextThatHasEndedRunsNoQuery(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ctx, db, new(numbers), "SELECT pg_sleep($1)", 600.0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptionNeverMeetsTheNextStatement(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	for i := range 100 {
		// Ends at any moment of the query, and after it.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
		if err := read(ctx, db, new(numbers), "SELECT g, pg_sleep(0.0001) FROM generate_series(1, $1::int) g", int64(5)); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
		if got := number(t, db, "SELECT $1::int", i); got != i {
			t.Fatalf("got %d", got)
		}
	}
}
