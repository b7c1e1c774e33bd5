package retention

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// Waits measures what housekeeping waits by: how long servers were seen to run, as a
// time since the epoch. A process adds what its own monotonic clock has measured since it
// first read the database, so that neither clock that is set shortens a wait. While no
// server runs, none passes. The zero value is one of a process that has read nothing.
type Waits struct {
	mu sync.Mutex
	// since is what the database had when the process had run for uptime.
	since  time.Time
	uptime time.Duration
}

const (
	readWaited = `SELECT waited FROM usage_ledger`
	noteWaited = `UPDATE usage_ledger SET waited = greatest(waited, $1)`
)

// Waited returns the time to wait by that the database has.
func Waited(ctx context.Context, in sqlx.QueryerContext) (time.Time, error) {
	type row struct{ Waited int64 }
	read, err := pg.GetOne[row](ctx, in, nil, readWaited)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(read.Waited).UTC(), nil
}

// Now returns the time to wait by, and notes it, in a process that has run for so
// long. Any number of instances may.
func (w *Waits) Now(ctx context.Context, tx *sqlx.Tx, uptime time.Duration) (time.Time, error) {
	stored, err := Waited(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		w.since, w.uptime = stored, uptime
	}
	measured := w.since.Add(uptime - w.uptime)
	if !measured.After(stored) {
		return stored, nil
	}
	_, err = tx.ExecContext(ctx, noteWaited, measured.UnixMicro())
	return measured, err
}
