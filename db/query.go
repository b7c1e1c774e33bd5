package db

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/jmoiron/sqlx"

	"simgraph/db/stmtcache"
)

// queryRows runs a query whose rows the caller reads at once, and then calls
// done. On a pool nothing but the connection watches for the end of ctx, which
// spares two goroutines: most queries take no longer than starting those.
func queryRows(ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (rows *sqlx.Rows, done func(), err error) {
	pool, ok := in.(*sqlx.DB)
	if !ok || ctx.Done() == nil {
		return queryRowsOf(ctx, in, query, args)
	}
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, nil, err
	}
	rows, err = conn.QueryxContext(stmtcache.Watched(ctx), query, args...)
	if err == nil {
		return rows, func() { _, _ = rows.Close(), conn.Close() }, nil
	}
	_ = conn.Close()
	if errors.Is(err, driver.ErrBadConn) {
		// It died while it was idle: the pool finds another, or makes one.
		return queryRowsOf(ctx, pool, query, args)
	}
	return nil, nil, err
}

func queryRowsOf(ctx context.Context, in sqlx.QueryerContext, query string, args []any) (*sqlx.Rows, func(), error) {
	rows, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	return rows, func() { _ = rows.Close() }, nil
}
