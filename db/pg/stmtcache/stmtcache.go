// Package stmtcache prepares each statement once per connection, below
// database/sql and invisible to it. lib/pq on its own parses and plans a
// statement with arguments anew on each call.
//
// It must be off behind a pooler that hands out server connections by
// transaction: there a prepared statement stays behind on another server.
package stmtcache

import (
	"container/list"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// DefaultSize suits a program with some hundred statements of its own: each
// costs the server some ten kilobytes per connection.
const DefaultSize = 256

// New returns a connector whose connections keep the size statements used last
// prepared. With size 0 nothing is kept. It sets the dialer of
// inner to one that makes its network connections by network.
//
// observe, unless nil, is called for every statement that is run, with the
// context of the call and before the server sees it; what it returns, unless nil,
// is called when the server has begun to answer.
//
// On all its connections an error that comes of the context matches both the
// context's error and lib/pq's, which is a bare query_canceled otherwise.
func New(inner *pq.Connector, network ContextDialer, size int, observe Observer) driver.Connector {
	inner.Dialer(&dialer{network})
	if observe == nil {
		observe = func(context.Context, string) func(error) { return nil }
	}
	return &connector{inner, size, observe}
}

// Observer is called for each statement.
type Observer func(ctx context.Context, query string) (answered func(error))

type connector struct {
	*pq.Connector
	size    int
	observe Observer
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := connect(ctx, c.Connector)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(pqConn)
	if !ok {
		_ = inner.Close()
		return nil, fmt.Errorf("stmtcache: lib/pq's %T lacks a method", inner)
	}
	return &conn{pqConn: full, size: c.size, observe: c.observe, byQuery: map[string]*list.Element{}, recent: list.New()}, nil
}

// pqConn is all that lib/pq's connections can do. What conn does not override
// goes straight through; a COPY by Prepare does too.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is used by one goroutine at a time, as database/sql promises.
type conn struct {
	pqConn
	size    int
	observe Observer
	byQuery map[string]*list.Element
	recent  *list.List // of *entry, the one used last in front
}

type entry struct {
	query string
	stmt  pqStmt
	// uses is how often it was to be run.
	uses int
}

// ByValue in a statement has each execution planned by its values: the cache prepares it anew before PostgreSQL might keep
// a plan for all of them. Of a pattern, a range or a tag that it does not know the planner expects many rows, and reads
// whole tables in the order of the list for the few that most find.
const ByValue = "/* by value */"

// plannedByValues is how many executions of a prepared statement PostgreSQL plans by
// their values. Then it may keep a plan for all values.
const plannedByValues = 5

// isWorn reports whether the next execution might get a plan for all values though values decide.
func (e *entry) isWorn() bool {
	return e.uses >= plannedByValues && strings.Contains(e.query, ByValue)
}

// BeginTx begins a transaction that may write where the settings of the server
// let it. It never calls lib/pq's BeginTx. That requests READ WRITE, which
// overrides default_transaction_read_only; and it leaves a function behind that
// later transactions of Begin on the connection would call at their end.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Begin()
	mode := modeOf(options)
	if err != nil || mode == "" {
		return tx, err
	}
	if _, err := c.pqConn.ExecContext(ctx, "SET TRANSACTION "+mode, nil); err != nil {
		return nil, errors.Join(explain(ctx, err), tx.Rollback())
	}
	return tx, nil
}

// modeOf is empty for a transaction as the settings of the server say.
func modeOf(options driver.TxOptions) string {
	var modes []string
	if level := sql.IsolationLevel(options.Isolation); level != sql.LevelDefault {
		modes = append(modes, "ISOLATION LEVEL "+level.String())
	}
	if options.ReadOnly {
		modes = append(modes, "READ ONLY")
	}
	return strings.Join(modes, ", ")
}

// prepares reports whether a statement with such arguments is prepared. One without
// goes by the simple protocol, as in lib/pq: it may be several in one text.
func (c *conn) prepares(args []driver.NamedValue) bool { return len(args) > 0 && c.size > 0 }

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	found, err := observed(ctx, c, query, func() (driver.Rows, error) {
		if !c.prepares(args) {
			rows, err := c.pqConn.QueryContext(ctx, query, args)
			return rows, explain(ctx, err)
		}
		return prepared(ctx, c, query, func(s pqStmt) (driver.Rows, error) { return s.QueryContext(ctx, args) })
	})
	if err != nil {
		return nil, err
	}
	return watched(ctx, found)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return observed(ctx, c, query, func() (driver.Result, error) {
		if !c.prepares(args) {
			result, err := c.pqConn.ExecContext(ctx, query, args)
			return result, explain(ctx, err)
		}
		return prepared(ctx, c, query, func(s pqStmt) (driver.Result, error) { return s.ExecContext(ctx, args) })
	})
}

func observed[T any](ctx context.Context, c *conn, query string, run func() (T, error)) (T, error) {
	answered := c.observe(ctx, query)
	result, err := run()
	if answered != nil {
		answered(err)
	}
	return result, err
}

// prepared runs a statement, and once more when the server refuses the prepared
// form before it did anything. In a transaction that is over then: the second
// attempt fails too, and the first error is the one that says why.
func prepared[T any](ctx context.Context, c *conn, query string, do func(pqStmt) (T, error)) (T, error) {
	result, err := once(ctx, c, query, do)
	if err == nil || !c.forget(query, err) {
		return result, explain(ctx, err)
	}
	again, retry := once(ctx, c, query, do)
	if pq.As(retry, pqerror.InFailedSQLTransaction) != nil {
		return again, explain(ctx, err)
	}
	return again, explain(ctx, retry)
}

func once[T any](ctx context.Context, c *conn, query string, do func(pqStmt) (T, error)) (T, error) {
	stmt, err := c.prepare(ctx, query)
	if err == nil {
		err = ctx.Err() // lib/pq would cancel what the server does not run yet, once
	}
	if err != nil {
		var none T
		return none, err
	}
	return do(stmt)
}

func (c *conn) prepare(ctx context.Context, query string) (pqStmt, error) {
	if e, ok := c.byQuery[query]; ok {
		if known := e.Value.(*entry); !known.isWorn() {
			known.uses++
			c.recent.MoveToFront(e)
			return known.stmt, nil
		}
		c.drop(e)
	}
	if len(c.byQuery) >= c.size {
		c.drop(c.recent.Back())
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(pqStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("stmtcache: %T takes no context", prepared), prepared.Close())
	}
	c.byQuery[query] = c.recent.PushFront(&entry{query: query, stmt: stmt, uses: 1})
	return stmt, nil
}

// forget drops what the server no longer accepts, and reports whether it did.
func (c *conn) forget(query string, err error) bool {
	switch {
	case pq.As(err, pqerror.FeatureNotSupported) != nil:
		// "cached plan must not change result type": the table was altered.
		if e, ok := c.byQuery[query]; ok {
			c.drop(e)
			return true
		}
	case pq.As(err, pqerror.InvalidSQLStatementName) != nil:
		// DEALLOCATE ALL or DISCARD ALL took them all.
		clear(c.byQuery)
		c.recent.Init()
		return true
	}
	return false
}

// drop ignores the error of closing: a connection that it broke says so to the
// next call.
func (c *conn) drop(e *list.Element) {
	old := c.recent.Remove(e).(*entry)
	delete(c.byQuery, old.query)
	_ = old.stmt.Close()
}

// explain adds the context's error to the one that it caused. ErrBadConn stays
// as it is: database/sql answers it with another connection.
func explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, driver.ErrBadConn) || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
