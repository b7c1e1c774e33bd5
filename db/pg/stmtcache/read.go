package stmtcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// Conn is what the connections of New can do besides what drivers' do.
type Conn interface {
	// ReadRows runs a query and hands its rows to a reader, until ctx ends. began
	// reports that the server has begun to answer: the query must not be run again.
	ReadRows(ctx context.Context, query string, args []driver.NamedValue, to RowReader) (began bool, err error)
}

// RowReader takes the rows of a query. An error of its own ends reading, and is
// that of ReadRows.
type RowReader interface {
	// Columns comes before the rows. The same c comes with each run of the query
	// on a connection.
	Columns(c *Columns) error
	// Row takes the values of a row as lib/pq has read them. They change with the
	// next row.
	Row(values []driver.Value) error
}

// Columns are those of a query.
type Columns struct {
	Names []string
	// Plan is the reader's, to keep what it found out about them. It is not used
	// by two at a time.
	Plan any
}

// ReadRows implements Conn.
func (c *conn) ReadRows(ctx context.Context, query string, args []driver.NamedValue, to RowReader) (began bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	rows, err := c.QueryContext(ctx, query, args)
	if err != nil {
		return false, err
	}
	return true, errors.Join(c.readAll(ctx, query, rows, to), rows.Close())
}

func (c *conn) readAll(ctx context.Context, query string, rows driver.Rows, to RowReader) error {
	columns := c.columnsOf(query, rows)
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
		if err := to.Row(values); err != nil {
			return err
		}
	}
}

// columnsOf returns the columns of what runs, the same as long as it is prepared.
func (c *conn) columnsOf(query string, rows driver.Rows) *Columns {
	e, ok := c.byQuery[query]
	if !ok {
		return &Columns{Names: rows.Columns()}
	}
	known := e.Value.(*entry)
	if known.columns == nil {
		known.columns = &Columns{Names: rows.Columns()}
	}
	return known.columns
}
