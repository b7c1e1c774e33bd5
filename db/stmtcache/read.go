package stmtcache

import (
	"cmp"
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"simgraph/db/rowtap"
)

// Conn is what the connections of New can do besides what drivers' do.
type Conn interface {
	// ReadRows runs a query and hands its rows to a reader, until ctx ends. began
	// tells that it was answered, and must not be run again.
	//
	// From the second time on that the connection runs the query, the reader gets
	// rows as the server sent them, if it can be.
	ReadRows(ctx context.Context, query string, args []driver.NamedValue, to RowReader) (began bool, err error)
}

// RowReader takes the rows of a query. Those that it is given change with the
// next. An error of its own ends reading, and is that of ReadRows.
type RowReader interface {
	// Columns comes before the rows. The same c comes with each run of the query
	// on a connection.
	Columns(c *Columns) error
	// Row takes a row as the server sent it: integers, bytea and uuid in binary,
	// all else as text.
	Row(row rowtap.Row) error
	// Values takes a row as lib/pq has read it.
	Values(values []driver.Value) error
}

// Columns are those of a query.
type Columns struct {
	Names []string
	// Types are the names that lib/pq has for types, such as INT8, and empty where
	// it has none. They are known where rows come as the server sent them.
	Types []string
	// Boxed is set by a reader that cannot read them as the server sends them.
	Boxed bool
	// Plan is the reader's, to keep what it found out about them. It is not used
	// by two at a time.
	Plan any
}

// ReadRows implements Conn.
func (c *conn) ReadRows(ctx context.Context, query string, args []driver.NamedValue, to RowReader) (began bool, err error) {
	if e, ok := c.byQuery[query]; ok && e.Value.(*entry).canTap() && c.wire != nil {
		if began, done, err := c.readTapped(ctx, e, args, to); done {
			return began, err
		}
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	rows, err := c.QueryContext(ctx, query, args)
	if err != nil {
		return false, err
	}
	return true, errors.Join(c.readValues(ctx, query, rows, to), rows.Close())
}

// canTap tells whether rows were read before, by a reader that takes them as they
// come.
func (e *entry) canTap() bool { return e.columns != nil && !e.columns.Boxed }

func (c *conn) readValues(ctx context.Context, query string, rows driver.Rows, to RowReader) error {
	columns := &Columns{Names: rows.Columns()}
	if e, ok := c.byQuery[query]; ok {
		columns.Types = typesOf(rows, columns.Names)
		e.Value.(*entry).columns = columns
	}
	if err := to.Columns(columns); err != nil {
		return err
	}
	values := make([]driver.Value, len(columns.Names))
	for {
		switch err := rows.Next(values); {
		case err == io.EOF: //nolint:errorlint // one that is wrapped is a connection that died among the rows
			return nil
		case err != nil:
			return explain(ctx, err)
		}
		if err := to.Values(values); err != nil {
			return err
		}
	}
}

func typesOf(rows driver.Rows, names []string) []string {
	typed, ok := rows.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return nil
	}
	types := make([]string, len(names))
	for i := range names {
		types[i] = typed.ColumnTypeDatabaseTypeName(i)
	}
	return types
}

// readTapped runs a query that is prepared. It is not done when the rows cannot
// be tapped now, or the server no longer takes what is prepared.
func (c *conn) readTapped(ctx context.Context, prepared *list.Element, args []driver.NamedValue, to RowReader) (began, done bool, err error) {
	e := prepared.Value.(*entry)
	if err := cmp.Or(ctx.Err(), to.Columns(e.columns)); err != nil {
		return false, true, err
	}
	var refused error
	if e.columns.Boxed || !c.wire.Tap(len(e.columns.Names), func(row rowtap.Row) error {
		began = true
		if refused == nil {
			refused = to.Row(row)
		}
		return nil
	}) {
		return false, false, nil
	}
	defer c.wire.Untap()
	c.recent.MoveToFront(prepared)
	_, err = observed(ctx, c, e.query, func() (none struct{}, err error) {
		rows, err := e.stmt.QueryContext(ctx, args)
		if err == nil {
			began = true // also without a row
			err = rows.Close()
		}
		return none, err
	})
	switch {
	case refused != nil:
		return true, true, refused
	case err == nil:
		return true, true, nil
	case !began && c.forget(e.query, err):
		return false, false, nil
	}
	return began, true, explain(ctx, err)
}
