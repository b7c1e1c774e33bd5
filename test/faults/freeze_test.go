//go:build linux

package faults_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/internal/fatal"
)

const (
	// freezeStatements is the --statement-timeout: a transaction may idle for a quarter
	// of that.
	freezeStatements = 8 * time.Second
	freezeIdle       = freezeStatements / 4
	// frozenFor is how long an instance stays frozen.
	frozenFor = 2 * freezeIdle
)

// named is the address of a database for sessions of that name.
func named(t *testing.T, address, name string) string {
	t.Helper()
	at, err := url.Parse(address)
	fatal.If(t, err)
	query := at.Query()
	query.Set("application_name", name)
	at.RawQuery = query.Encode()
	return at.String()
}

const (
	waitsForTable = `
SELECT a.pid, a.application_name AS name FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
WHERE a.application_name LIKE 'freezable%' AND NOT l.granted AND l.relation = $1::regclass`
	idlesWithLocks = `SELECT a.pid, a.application_name AS name FROM pg_stat_activity a WHERE a.pid = $1 AND a.state = 'idle in transaction'`
	isThere        = `SELECT a.pid, a.application_name AS name FROM pg_stat_activity a WHERE a.pid = $1`
)

// backend is a session of PostgreSQL.
type backend struct {
	PID  int
	Name string
}

// finds waits a while for a session that a query selects; nil for none.
func finds(t *testing.T, pool *sqlx.DB, query string, args ...any) *backend {
	t.Helper()
	for deadline := time.Now().Add(freezeIdle / 2); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var found []backend
		fatal.If(t, pool.SelectContext(t.Context(), &found, query, args...))
		if len(found) > 0 {
			return &found[0]
		}
	}
	return nil
}

// freezable are instances by the names of their sessions.
type freezable map[string]*exec.Cmd

// freezeIn stops one of the instances in the middle of a transaction that writes to the
// table, and returns the session, which idles then. The table is locked until the
// transaction waits for it and the process is stopped. Each attempt begins with work for
// the instances.
func (f freezable) freezeIn(t *testing.T, pool *sqlx.DB, table, work string) (frozen *backend) {
	t.Helper()
	eventually(t, "an instance is frozen as it writes to "+table, func() bool {
		pool.MustExec(work)
		lock := pool.MustBegin()
		lock.MustExec(`LOCK TABLE ` + table + ` IN SHARE MODE`)
		frozen = finds(t, pool, waitsForTable, table)
		if frozen == nil {
			_ = lock.Rollback()
			time.Sleep(50 * time.Millisecond) // others had to wait as well
			return false
		}
		stop(t, f[frozen.Name])
		_ = lock.Rollback()
		if finds(t, pool, idlesWithLocks, frozen.PID) != nil {
			return true
		}
		_ = f[frozen.Name].Process.Signal(syscall.SIGCONT) // its statement was a transaction of its own
		return false
	})
	return frozen
}

// stop stops a process, and returns when each of its threads has stopped: a signal is
// sent at once, and takes effect when the threads run next.
func stop(t *testing.T, process *exec.Cmd) {
	t.Helper()
	fatal.If(t, process.Process.Signal(syscall.SIGSTOP))
	eventually(t, "all threads have stopped", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", process.Process.Pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("no threads of process %d: %v", process.Process.Pid, err)
		}
		return !slices.ContainsFunc(threads, func(thread string) bool {
			stat, err := os.ReadFile(thread)
			_, state, _ := strings.Cut(string(stat), ") ")
			return err == nil && !strings.HasPrefix(state, "T") // a thread that ended has no file
		})
	})
}

// An instance that is frozen, as a paused virtual machine is, keeps the locks of its
// transactions no longer than they may idle: what others write goes on. When it goes on
// itself, nothing is lost and nothing is there twice.
func TestAnInstanceIsFrozen(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	extra := []string{"--statement-timeout", freezeStatements.String()}
	const one, two = "freezable one", "freezable two"
	x := newTrial(t, launch{databaseURL: named(t, d.url(), one), dataDir: t.TempDir(), extra: extra})
	second := serve(t, launch{databaseURL: named(t, d.url(), two), dataDir: t.TempDir(), extra: extra, smtp: x.box.address})
	instances := freezable{one: x.simgraph.cmd, two: second.cmd}
	pool := d.open()
	pool.SetMaxOpenConns(4)
	pool.MustExec(addOperated, operated)
	x.begin()
	beside := newLoad(newCaller(t, second.base))
	beside.number.Store(1 << 30) // records and tags of its own
	beside.beginWith(t, beside.stream, beside.mutate, beside.tag)
	others := map[string]*load{one: beside, two: x.load}
	// Writers take turns with the chunks of an operation, frozen or not.
	operation := startOperated(t, x.load.caller)
	x.answering = max(x.answering, slowest(func() { x.load.answers(t.Context()) }))
	checkOperated(t, pool, operation)
	for _, c := range []struct{ what, table, work string }{
		{"a booking", "usage_records", `SELECT`},
		{"a chunk of an operation", "operation_rows", `SELECT`},
		// What was mailed is to be mailed once more: few alerts are left to fire.
		{"a round of mails", "mails", `UPDATE alert_deliveries SET mail_id = NULL`},
	} {
		operation = ""
		if c.table == "operation_rows" {
			operation = startOperated(t, x.load.caller)
		}
		frozen := instances.freezeIn(t, pool, c.table, c.work)
		began := time.Now()
		eventually(t, "others write", func() bool { return others[frozen.Name].answers(t.Context()) })
		took := x.inTime("others wrote while an instance was frozen in "+c.what, began.Add(freezeIdle), x.answering)
		time.Sleep(time.Until(began.Add(frozenFor)))
		if finds(t, pool, isThere, frozen.PID) != nil {
			t.Errorf("%s: the session of the frozen instance is still there", c.what)
		}
		_ = instances[frozen.Name].Process.Signal(syscall.SIGCONT)
		x.recovers(time.Now())
		eventually(t, "the second instance answers", func() bool { return beside.answers(t.Context()) })
		t.Logf("frozen in %s: others wrote after %v", c.what, (took + freezeIdle).Round(100*time.Millisecond))
		if operation != "" {
			checkOperated(t, pool, operation)
		}
	}
	x.flow(300)
	beside.end()
	x.load.include(beside)
	x.finish(fmt.Sprintf("one of two instances stopped by SIGSTOP for %v during a booking, a chunk and a round of mails", frozenFor), d.url())
	second.terminate()
}

// startOperated starts an operation that gives the nicknames of the subscribers for
// operations one more letter.
func startOperated(t *testing.T, c *caller) string {
	t.Helper()
	var started struct {
		Start struct{ Operation struct{ OperationID string } } `json:"startSubscriberChange"`
	}
	if c.graph(t.Context(), operateOnNicknames, nil, &started) != done {
		t.Fatal(c.wrong)
	}
	return started.Start.Operation.OperationID
}

// checkOperated demands that each subscriber was changed once, and removes the trace.
func checkOperated(t *testing.T, pool *sqlx.DB, operation string) {
	t.Helper()
	const whole = `SELECT count(*) FROM operations WHERE operation_id = $1 AND state = 'DONE' AND changed = total`
	count := func(query string, args ...any) (n int) {
		fatal.If(t, pool.GetContext(t.Context(), &n, query, args...))
		return n
	}
	eventually(t, "the operation ends", func() bool { return count(whole, operation) == 1 })
	if n := count(`SELECT count(*) FROM subscribers WHERE nickname = 'x'`); n != operated {
		t.Errorf("%d of %d subscribers have changed once", n, operated)
	}
	pool.MustExec(`UPDATE subscribers SET nickname = '' WHERE nickname = 'x'`)
}

// A migration that is frozen holds the locks of its tables, and the one by which
// migrations take turns: another one goes on when its session has ended.
func TestAMigrationIsFrozen(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	pool := d.open()
	pool.SetMaxOpenConns(4)
	run(t, "migrate", "down", "--yes", "--database-url", d.url())
	var before, after int
	const applied = `SELECT count(*) FROM goose_db_version WHERE is_applied`
	fatal.If(t, pool.GetContext(t.Context(), &before, applied))
	var errs transcript
	frozen := exec.Command(program, "migrate", "up", "--database-url", named(t, d.url(), "freezable migration"))
	frozen.Stderr = &errs
	frozen.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	lock := pool.MustBegin()
	lock.MustExec(`LOCK TABLE goose_db_version IN SHARE MODE`)
	fatal.If(t, frozen.Start())
	t.Cleanup(func() { _ = frozen.Process.Kill() })
	eventually(t, "the migration notes what it did", func() bool {
		return finds(t, pool, waitsForTable, "goose_db_version") != nil
	})
	stop(t, frozen)
	_ = lock.Rollback()
	began := time.Now()
	run(t, "migrate", "up", "--database-url", d.url())
	took := time.Since(began)
	_ = frozen.Process.Signal(syscall.SIGCONT)
	if err := frozen.Wait(); err != nil {
		t.Errorf("the migration that was frozen: %v: %s", err, &errs)
	}
	if err := pool.GetContext(t.Context(), &after, applied); err != nil || after != before+1 {
		t.Errorf("%d migrations are noted, %d were before the one: %v", after, before, err)
	}
	t.Logf("a migration frozen by SIGSTOP: another one was done after %v", took.Round(100*time.Millisecond))
}
