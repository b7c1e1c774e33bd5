package stmtcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// withoutEnd returns the context to run a query with whose end the connection
// looks out for by itself, and which otherwise holds what ctx holds. With ctx
// itself database/sql and lib/pq start a goroutine each for every query, which
// cost about as much as a short query.
//
// database/sql does not see ctx end, so who may have to wait for a connection
// takes it first, by [database/sql.DB.Conn].
func withoutEnd(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return watched{ctx}
}

// watched hides the end of a context from those who would watch for it.
type watched struct{ of context.Context }

type watchedKey struct{}

func (watched) Deadline() (time.Time, bool) { return time.Time{}, false }
func (watched) Done() <-chan struct{}       { return nil }
func (watched) Err() error                  { return nil }

func (w watched) Value(key any) any {
	if key == (watchedKey{}) {
		return w.of
	}
	return w.of.Value(key)
}

// original returns the context that ends.
func original(ctx context.Context) context.Context {
	if of, ok := ctx.Value(watchedKey{}).(context.Context); ok {
		return of
	}
	return ctx
}

// pqRows is all that lib/pq's rows can do.
type pqRows interface {
	driver.RowsNextResultSet
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// watch looks out for the end of a context.
type watch struct {
	stop func() bool
	// interrupting is an interruption on its way.
	interrupting sync.WaitGroup
}

// watch has what the connection runs end with a context.
func (c *conn) watch(of context.Context) *watch {
	w := new(watch)
	w.interrupting.Add(1)
	w.stop = context.AfterFunc(of, func() {
		defer w.interrupting.Done()
		c.interrupt()
	})
	return w
}

// end waits for an interruption that is on its way: it would meet the
// connection's next statement.
func (w *watch) end() {
	if !w.stop() {
		w.interrupting.Wait()
	}
}

// watchedRows are the rows of a query that ends with its context.
type watchedRows struct {
	pqRows
	*watch
	ctx context.Context
}

// watched runs a query until of ends. ctx is of without its end.
func (c *conn) watched(ctx, of context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := of.Err(); err != nil {
		return nil, err
	}
	w := &watchedRows{watch: c.watch(of), ctx: of}
	rows, err := prepared(ctx, c, query, func(s pqStmt) (driver.Rows, error) { return s.QueryContext(ctx, args) })
	if err != nil {
		w.end()
		return nil, explain(of, err)
	}
	full, ok := rows.(pqRows)
	if !ok {
		w.end()
		return nil, errors.Join(fmt.Errorf("stmtcache: lib/pq's %T lacks a method", rows), rows.Close())
	}
	w.pqRows = full
	return w, nil
}

// Next implements driver.Rows.
func (w *watchedRows) Next(values []driver.Value) error {
	err := w.pqRows.Next(values)
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return explain(w.ctx, err)
}

// Close implements driver.Rows.
func (w *watchedRows) Close() error {
	err := w.pqRows.Close()
	w.end()
	return err
}

// interruptTime is how long an interruption may take.
const interruptTime = 10 * time.Second

// interrupt cancels what the connection runs. Where that fails, the statement
// ends by itself or by the server's time limit.
func (c *conn) interrupt() {
	ctx, cancel := context.WithTimeout(context.Background(), interruptTime)
	defer cancel()
	other, err := c.inner.Connect(ctx)
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
