package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jmoiron/sqlx"

	"simgraph/db/stmtcache"
)

// rowReader takes the rows of a query. Values are the driver's, and change with
// the next row.
type rowReader interface {
	columns(names []string) error
	row(values []driver.Value) error
}

// readRows hands the rows of a query to a reader. On a pool they come straight
// from the driver, without the locks and conversions of database/sql, and
// nothing but the connection watches for the end of ctx, which spares two
// goroutines: most queries take no longer than starting those.
func readRows(ctx context.Context, in sqlx.QueryerContext, query string, args []any, to rowReader) error {
	pool, ok := in.(*sqlx.DB)
	if !ok {
		return readRowsOf(ctx, in, query, args, to)
	}
	conn, err := pool.DB.Conn(ctx)
	if err != nil {
		return err
	}
	began := false
	err = conn.Raw(func(driverConn any) error {
		rows, err := queryDriver(stmtcache.Watched(ctx), driverConn, query, args)
		if err != nil {
			return err
		}
		began = true
		return readDriver(rows, to)
	})
	_ = conn.Close()
	if !began && errors.Is(err, driver.ErrBadConn) {
		// It died while it was idle: the pool finds another, or makes one.
		return readRowsOf(ctx, pool, query, args, to)
	}
	return err
}

// queryDriver runs a query on a connection of the driver, with arguments as
// database/sql takes them.
func queryDriver(ctx context.Context, conn any, query string, args []any) (driver.Rows, error) {
	checker, _ := conn.(driver.NamedValueChecker)
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
		if err := checkArg(checker, &named[i]); err != nil {
			return nil, fmt.Errorf("the argument $%d: %w", i+1, err)
		}
	}
	return conn.(driver.QueryerContext).QueryContext(ctx, query, named)
}

func checkArg(checker driver.NamedValueChecker, arg *driver.NamedValue) (err error) {
	if driver.IsValue(arg.Value) {
		return nil
	}
	if checker != nil {
		if err = checker.CheckNamedValue(arg); !errors.Is(err, driver.ErrSkip) {
			return err
		}
	}
	arg.Value, err = driver.DefaultParameterConverter.ConvertValue(arg.Value)
	return err
}

func readDriver(rows driver.Rows, to rowReader) error {
	defer func() { _ = rows.Close() }()
	names := rows.Columns()
	if err := to.columns(names); err != nil {
		return err
	}
	values := make([]driver.Value, len(names))
	for {
		if err := rows.Next(values); err != nil {
			return lastOf(err)
		}
		if err := to.row(values); err != nil {
			return err
		}
	}
}

// lastOf returns the error that ended the rows, nil after the last of them.
func lastOf(err error) error {
	if err == io.EOF { //nolint:errorlint // one that is wrapped is a connection that died among them
		return nil
	}
	return err
}

// readRowsOf is readRows by way of database/sql, such as in a transaction.
func readRowsOf(ctx context.Context, in sqlx.QueryerContext, query string, args []any, to rowReader) error {
	rows, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := to.columns(names); err != nil {
		return err
	}
	values, destinations := make([]driver.Value, len(names)), make([]any, len(names))
	for i := range values {
		destinations[i] = (*any)(&values[i])
	}
	for rows.Next() {
		if err := rows.Scan(destinations...); err != nil {
			return err
		}
		if err := to.row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}
