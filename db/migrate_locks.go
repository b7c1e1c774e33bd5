package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/pressly/goose/v3/lock"

	"simgraph/db/pg"
)

// lockPatience says how migrations wait for locks that others hold. Who requests
// the same lock meanwhile queues behind the migration, so it gives up soon and
// tries again after a pause, in which the others go on.
type lockPatience struct {
	// lock is how long a statement of a migration waits for a lock.
	lock, pause time.Duration
	attempts    int
	// idle is after how long the session of a process that is frozen ends: its locks
	// would stop all others.
	idle time.Duration
	// turns is for how many seconds the migrations of another instance are waited
	// for.
	turns uint64
}

// usualPatience waits two minutes in all.
var usualPatience = lockPatience{lock: 3 * time.Second, pause: 5 * time.Second, attempts: 15, idle: 15 * time.Second, turns: 300}

// retry runs an attempt at migrations, again while others hold locks that it
// needs.
func (m *Migrations) retry(ctx context.Context, attempt func(lock.SessionLocker) error) error {
	for n := 1; ; n++ {
		blocked, err := m.attempt(ctx, attempt)
		if errors.Is(err, driver.ErrBadConn) && n < m.patience.attempts && ctx.Err() == nil {
			m.log.WarnContext(ctx, "the session of a migration ended, it begins again", "attempt", n, "error", err)
			continue
		}
		if pq.As(err, pqerror.LockNotAvailable) == nil {
			return err
		}
		err = fmt.Errorf("a lock was not free for %v: %s: %w", m.patience.lock, blocked, err)
		if n == m.patience.attempts {
			return fmt.Errorf("given up after %d attempts: %w", n, err)
		}
		m.log.WarnContext(ctx, "a migration waits for a lock", "attempt", n, "attempts", m.patience.attempts, "holder", blocked.String())
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(m.patience.pause):
		}
	}
}

// attempt runs an attempt and returns who stood in its way last.
func (m *Migrations) attempt(ctx context.Context, attempt func(lock.SessionLocker) error) (lockHolders, error) {
	turns, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, m.patience.turns))
	if err != nil {
		return nil, err
	}
	session := &migrationSession{SessionLocker: turns, timeout: m.patience.lock, idle: m.patience.idle}
	looking, stop := context.WithCancel(ctx)
	found := make(chan lockHolders)
	go func() { found <- session.blockers(looking, m.pool) }()
	err = attempt(session)
	stop()
	blocked := <-found
	if session.refused {
		err = m.othersTurn(ctx, err)
	}
	return blocked, err
}

// othersTurn adds to an error which session migrates.
func (m *Migrations) othersTurn(ctx context.Context, err error) error {
	var holders lockHolders
	if failed := m.pool.SelectContext(ctx, &holders, migrating, lock.DefaultLockID); failed != nil {
		return err
	}
	return fmt.Errorf("another migration runs, its lock is %s: %w", holders, err)
}

// migrationSession makes the session in which migrations run wait for locks no
// longer than the timeout, and sets what they need of Citus.
type migrationSession struct {
	lock.SessionLocker
	timeout, idle time.Duration
	// pid is the process of the server; 0 until it is known.
	pid atomic.Int64
	// refused reports that another session migrates.
	refused bool
}

// The settings of the session. Those of Citus, unknown to a PostgreSQL without it,
// let foreign keys refer to reference tables, and tables follow functions that
// were made in the same transaction.
const (
	setMigrating = `
SELECT pg_backend_pid() FROM set_config('lock_timeout', $1, false) AS locks,
  set_config('idle_in_transaction_session_timeout', $2, false) AS idle, set_config('idle_session_timeout', $2, false) AS idle_session,
  set_config('citus.enable_local_reference_table_foreign_keys', 'off', false) AS keys,
  set_config('citus.multi_shard_modify_mode', 'sequential', false) AS mode`
	resetMigrating = `RESET lock_timeout; RESET idle_in_transaction_session_timeout; RESET idle_session_timeout; RESET citus.enable_local_reference_table_foreign_keys; RESET citus.multi_shard_modify_mode`
)

// SessionLock implements lock.SessionLocker.
func (s *migrationSession) SessionLock(ctx context.Context, conn *sql.Conn) error {
	var pid int64
	if err := conn.QueryRowContext(ctx, setMigrating, fmt.Sprint(s.timeout.Milliseconds()), fmt.Sprint(s.idle.Milliseconds())).Scan(&pid); err != nil {
		return err
	}
	if err := s.SessionLocker.SessionLock(ctx, conn); err != nil {
		s.refused = true
		return errors.Join(err, s.reset(ctx, conn))
	}
	s.pid.Store(pid)
	return nil
}

// SessionUnlock implements lock.SessionLocker.
func (s *migrationSession) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	s.pid.Store(0)
	return errors.Join(s.reset(ctx, conn), s.SessionLocker.SessionUnlock(ctx, conn))
}

func (s *migrationSession) reset(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), resetMigrating)
	return err
}

// looksPerWait is how often the holders of a lock are looked for while it is
// waited for.
const looksPerWait = 6

// blockers looks, until ctx ends, which sessions the migration waits for, and
// returns those that it saw last.
func (s *migrationSession) blockers(ctx context.Context, pool *sqlx.DB) (last lockHolders) {
	tick := time.NewTicker(s.timeout / looksPerWait)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
		pid := s.pid.Load()
		if pid == 0 {
			continue
		}
		var now lockHolders
		if err := pool.SelectContext(ctx, &now, blocking, pid); err == nil && len(now) > 0 {
			last = now
		}
	}
}

// lockHolder is a session, without the text of its statement, which may hold
// data.
type lockHolder struct {
	// PID is 0 for a transaction that is prepared.
	PID                        int64
	Application, Account       string
	State                      string
	TransactionFor             float64
	TransactionAt, StatementAt sql.Null[time.Time]
}

const (
	ofSessions = `
SELECT DISTINCT b.pid, COALESCE(a.application_name, '') AS application, COALESCE(a.usename, '') AS account, COALESCE(a.state, '') AS state,
  a.xact_start AS transaction_at, COALESCE(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8 AS transaction_for,
  a.query_start AS statement_at
FROM `
	blocking = ofSessions + `unnest(pg_blocking_pids($1)) AS b (pid) LEFT JOIN pg_stat_activity a ON a.pid = b.pid`
	// migrating is the session that holds goose's lock.
	migrating = ofSessions + `pg_locks b LEFT JOIN pg_stat_activity a ON a.pid = b.pid
WHERE b.locktype = 'advisory' AND b.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND b.granted AND (b.classid::bigint << 32) | b.objid::bigint = $1`
)

// String describes the session as pg_stat_activity shows it.
func (h *lockHolder) String() string {
	if h.PID == 0 {
		return "a prepared transaction (see pg_prepared_xacts)"
	}
	text := fmt.Sprintf("session %d (application %q, user %s, %s", h.PID, h.Application, cmp.Or(h.Account, "unknown"), cmp.Or(h.State, "state unknown"))
	if h.TransactionAt.Valid {
		text += fmt.Sprintf(", in a transaction for %.1f s", h.TransactionFor)
	}
	if h.StatementAt.Valid {
		text += ", last statement began " + h.StatementAt.V.UTC().Format(time.RFC3339)
	}
	return text + ")"
}

type lockHolders []lockHolder

// String describes who holds the lock.
func (h lockHolders) String() string {
	if len(h) == 0 {
		return "nobody was seen holding it"
	}
	return "held by " + strings.Join(pg.Pluck(h, func(one lockHolder) string { return one.String() }), " and ")
}
