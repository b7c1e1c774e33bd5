package main

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
	"github.com/lib/pq"
)

// recorder notes the statements of one connection.
type recorder struct {
	driver.Connector
	statements []statement
}

func newRecorder(url string, mapper *reflectx.Mapper) (*recorder, *sqlx.DB, error) {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return nil, nil, err
	}
	r := &recorder{Connector: connector}
	pool := sqlx.NewDb(sql.OpenDB(r), "postgres")
	pool.Mapper = mapper
	pool.SetMaxOpenConns(1)
	return r, pool, nil
}

// Connect implements driver.Connector.
func (r *recorder) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	return &recordedConn{conn, r}, err
}

type recordedConn struct {
	driver.Conn
	to *recorder
}

// QueryContext implements driver.QueryerContext.
func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = arg.Value
	}
	c.to.statements = append(c.to.statements, statement{query, values})
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// ExecContext implements driver.ExecerContext. Reads run none.
func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}
