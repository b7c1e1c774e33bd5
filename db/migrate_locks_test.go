package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// report keeps a log.
type report struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *report) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// busy is a database one migration behind, of which another session has a table
// that the migration changes.
type busy struct {
	pool, other *sqlx.DB
	tx          *sqlx.Tx
	pid         int
	log         report
}

const (
	secret   = "a value that nobody else may see"
	newest   = "00009_newest_first.sql"
	lockOnce = 200 * time.Millisecond
)

func newBusy(t *testing.T) *busy {
	t.Helper()
	address := dbtest.URL(t)
	b := &busy{}
	for pool, name := range map[**sqlx.DB]string{&b.pool: "simgraph", &b.other: "report%20of%20a%20night"} {
		opened, err := pg.Open(t.Context(), address+"&application_name="+name, pg.Options{MaxConns: 2})
		fatal.If(t, err)
		t.Cleanup(func() { opened.Close() })
		*pool = opened
	}
	if _, err := b.migrations().DownTo(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	b.tx = b.other.MustBegin()
	t.Cleanup(func() { _ = b.tx.Rollback() })
	b.tx.MustExec(`LOCK TABLE subscribers IN ROW EXCLUSIVE MODE`)
	fatal.If(t, b.tx.Get(&b.pid, `SELECT pg_backend_pid() WHERE '`+secret+`' <> ''`))
	return b
}

func (b *busy) migrations() *db.Migrations {
	return db.NewMigrations(b.pool, nil, slog.New(slog.NewTextHandler(&b.log, nil)))
}

func TestAMigrationThatALockHoldsUpNamesTheSession(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	applied, err := b.migrations().Impatient(lockOnce, time.Millisecond, 3).Up(t.Context())
	if pq.As(err, pqerror.LockNotAvailable) == nil || len(applied) > 0 {
		t.Fatalf("applied %v, %v", applied, err)
	}
	for _, want := range []string{
		"after 3 attempts", fmt.Sprintf("session %d ", b.pid), `application "report of a night"`, "idle in transaction", "in a transaction for ", "last statement began 20",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.Contains(err.Error(), secret) || strings.Contains(b.log.String(), secret) {
		t.Errorf("the text of a statement is shown: %v", err)
	}
	if log := b.log.String(); strings.Count(log, "a migration waits for a lock") != 2 || !strings.Contains(log, fmt.Sprintf("session %d ", b.pid)) {
		t.Errorf("the log: %s", log)
	}
	var bound string
	for range 2 { // both connections
		if err := b.pool.Get(&bound, `SELECT current_setting('lock_timeout') FROM pg_sleep(0.05)`); err != nil || bound != "0" {
			t.Errorf("lock_timeout is left at %s, %v", bound, err)
		}
	}
}

func TestAMigrationGoesOnWhenTheLockIsFree(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	ended := make(chan error)
	go func() {
		applied, err := b.migrations().Impatient(lockOnce, time.Millisecond, 1_000_000).Up(context.WithoutCancel(t.Context()))
		if err == nil && (len(applied) == 0 || !strings.HasSuffix(applied[0].Source.Path, newest)) {
			err = fmt.Errorf("applied %v", applied)
		}
		ended <- err
	}()
	awaitLog(t, b, ended)
	// While the migration pauses, others go on with the table.
	if _, err := b.other.ExecContext(t.Context(), `UPDATE subscribers SET nickname = nickname`); err != nil {
		t.Error(err)
	}
	fatal.If(t, b.tx.Commit())
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := db.Current(t.Context(), b.pool); err != nil {
		t.Error(err)
	}
}

// awaitLog waits until the migration says that it waits.
func awaitLog(t *testing.T, b *busy, ended chan error) {
	t.Helper()
	for !strings.Contains(b.log.String(), "a migration waits for a lock") {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestAMigrationThatWaitsForALockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"in the wait": time.Millisecond, "in the pause": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBusy(t)
			wait := lockOnce
			if pause < time.Hour {
				wait = time.Hour
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := b.migrations().Impatient(wait, pause, 5).Up(ctx)
				ended <- err
			}()
			if pause == time.Hour {
				awaitLog(t, b, ended)
			} else {
				awaitBlocked(t, b)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// awaitBlocked waits until a statement waits for the session's lock.
func awaitBlocked(t *testing.T, b *busy) {
	t.Helper()
	for waiting := 0; waiting == 0; {
		fatal.If(t, b.other.Get(&waiting, `SELECT count(*) FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))`, b.pid))
	}
}

func TestAMigrationThatWaitsForThatOfAnotherInstanceNamesItsSession(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	b.tx.MustExec(`SELECT pg_advisory_lock(4097083626)`) // goose's
	_, err := b.migrations().Impatient(lockOnce, time.Millisecond, 1).Up(t.Context())
	for _, want := range []string{"another migration runs", fmt.Sprintf("session %d ", b.pid), `application "report of a night"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestMigrationsBeforeOneThatFailsAreAudited(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	fatal.If(t, b.tx.Rollback())
	if _, err := b.migrations().DownTo(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	b.tx = b.other.MustBegin()
	b.tx.MustExec(`LOCK TABLE subscribers IN ROW EXCLUSIVE MODE`)
	applied, err := b.migrations().Impatient(lockOnce, time.Millisecond, 2).Up(t.Context())
	if err == nil || len(applied) == 0 {
		t.Fatalf("applied %v, %v", applied, err)
	}
	var audited string
	fatal.If(t, b.pool.Get(&audited, `SELECT changes::text FROM audit_log WHERE action = 'schema.migrate' ORDER BY sequence DESC LIMIT 1`))
	if !strings.Contains(audited, "up 00007") || strings.Contains(audited, newest) {
		t.Errorf("the audit log has %s", audited)
	}
}
