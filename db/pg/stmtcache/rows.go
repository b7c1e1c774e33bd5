package stmtcache

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
)

// pqRows is all that lib/pq's rows can do.
type pqRows interface {
	driver.RowsNextResultSet
	driver.RowsColumnTypeScanType
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypePrecisionScale
}

// rows are those of a query whose context may end among them.
type rows struct {
	pqRows
	explain func(error) error
}

// watched returns rows whose errors name the end of the context: lib/pq's are a
// bare query_canceled, and database/sql may see them before the context has ended
// for it.
func watched(ctx context.Context, found driver.Rows) (driver.Rows, error) {
	full, ok := found.(pqRows)
	if !ok {
		_ = found.Close()
		return nil, fmt.Errorf("stmtcache: lib/pq's %T lacks a method", found)
	}
	return &rows{full, func(err error) error { return explain(ctx, err) }}, nil
}

// Next implements driver.Rows.
func (r *rows) Next(values []driver.Value) error {
	err := r.pqRows.Next(values)
	if err == nil || err == io.EOF { //nolint:errorlint // one that is wrapped is a connection that died among the rows
		return err
	}
	return r.explain(err)
}
