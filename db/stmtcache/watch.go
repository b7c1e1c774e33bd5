package stmtcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience is how long a statement runs before its connection looks out for the
// end of the context: most are done sooner than that would have cost.
var patience = 10 * time.Millisecond

// watch interrupts what a connection runs when its context ends. lib/pq
// starts a goroutine for that with every query, which costs about as much as a
// short query.
type watch struct {
	interrupt func()
	timer     *time.Timer
	// interrupting is an interruption on its way.
	interrupting sync.WaitGroup

	mu sync.Mutex
	of context.Context // nil while nothing runs
	// stop is nil as long as there is patience.
	stop func() bool
}

func newWatch(interrupt func()) *watch {
	w := &watch{interrupt: interrupt}
	w.timer = time.AfterFunc(time.Hour, w.look)
	w.timer.Stop()
	return w
}

// begin has what the connection runs from now on end with a context.
func (w *watch) begin(of context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of = of
	w.timer.Reset(patience)
}

// look may come late, for a statement that has ended: then the next is looked
// after sooner.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil || w.stop != nil {
		return
	}
	w.interrupting.Add(1)
	w.stop = context.AfterFunc(w.of, func() {
		defer w.interrupting.Done()
		w.interrupt()
	})
}

// end waits for an interruption that is on its way: it would meet the
// connection's next statement.
func (w *watch) end() {
	w.mu.Lock()
	w.timer.Stop()
	stop := w.stop
	w.of, w.stop = nil, nil
	w.mu.Unlock()
	switch {
	case stop == nil:
	case stop():
		w.interrupting.Done()
	default:
		w.interrupting.Wait()
	}
}

// interruptTime is how long an interruption may take.
const interruptTime = 10 * time.Second

// interrupt cancels what the connection runs. Where that fails, the statement
// ends by itself or by the server's time limit.
func (c *conn) interrupt() {
	ctx, cancel := context.WithTimeout(context.Background(), interruptTime)
	defer cancel()
	other, err := connect(ctx, c.inner)
	if err != nil {
		return
	}
	defer func() { _ = other.Close() }()
	if execer, ok := other.(driver.ExecerContext); ok {
		_, _ = execer.ExecContext(ctx, fmt.Sprintf(cancelBackend, c.backend.pid, c.backend.started), nil)
	}
}

// backend is a process of the server. The address may lead to another server by
// now, or to one that was started again, where the number alone is another's.
type backend struct {
	pid     int64
	started string
}

const (
	ownBackend    = `SELECT pid::bigint, backend_start::text FROM pg_stat_get_activity(pg_backend_pid())`
	cancelBackend = `SELECT pg_cancel_backend(pid) FROM pg_stat_get_activity(%d) WHERE backend_start = '%s'`
)

// backendOf asks for the process that serves a connection.
func backendOf(ctx context.Context, conn pqConn) (b backend, err error) {
	rows, err := conn.QueryContext(ctx, ownBackend, nil)
	if err != nil {
		return b, err
	}
	values := make([]driver.Value, 2)
	err = rows.Next(values)
	b.pid, _ = values[0].(int64)
	b.started, _ = values[1].(string)
	return b, errors.Join(err, rows.Close())
}
