package pg

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg/stmtcache"
)

// readRows hands the rows of a query to a reader. On a pool they come straight
// from the driver, without the locks and conversions of database/sql. The driver
// alone watches for the end of ctx.
func readRows(ctx context.Context, in sqlx.QueryerContext, query string, args []any, to stmtcache.RowReader) error {
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
		own, ok := driverConn.(stmtcache.Conn)
		if !ok {
			return driver.ErrSkip
		}
		values, err := driverValues(driverConn, args)
		if err == nil {
			began, err = own.ReadRows(ctx, query, values, to)
		}
		return err
	})
	_ = conn.Close()
	if !began && (errors.Is(err, driver.ErrBadConn) || errors.Is(err, driver.ErrSkip)) {
		// It died while it was idle: the pool finds another, or makes one. Or the
		// pool is none of Open's.
		return readRowsOf(ctx, pool, query, args, to)
	}
	return err
}

// driverValues turns arguments as database/sql takes them into a driver's.
func driverValues(conn any, args []any) ([]driver.NamedValue, error) {
	checker, _ := conn.(driver.NamedValueChecker)
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
		if err := checkArg(checker, &values[i]); err != nil {
			return nil, fmt.Errorf("the argument $%d: %w", i+1, err)
		}
	}
	return values, nil
}

func checkArg(checker driver.NamedValueChecker, arg *driver.NamedValue) (err error) {
	if driver.IsValue(arg.Value) {
		return nil
	}
	if numbers, ok := arg.Value.(pq.Int64Array); ok && numbers != nil {
		arg.Value = formatArray(numbers)
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

// formatArray is pq.Int64Array's Value with memory for all of it.
func formatArray(numbers []int64) string {
	b := append(make([]byte, 0, 2+usualDigits*len(numbers)), '{')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, '}'))
}

// usualDigits are those of a key, and the comma.
const usualDigits = 8

// readRowsOf is readRows by way of database/sql, such as in a transaction.
func readRowsOf(ctx context.Context, in sqlx.QueryerContext, query string, args []any, to stmtcache.RowReader) error {
	rows, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := to.Columns(&stmtcache.Columns{Names: names}); err != nil {
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
		if err := to.Row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}
