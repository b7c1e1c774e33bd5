package live

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// ServerSession is the application_name of the session on which a server listens
// for live events.
const ServerSession = "simgraph-serve"

const findServer = `
SELECT EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1
)`

// Served reports whether a server is attached to the database, by its session.
func Served(ctx context.Context, pool *sqlx.DB) (bool, error) {
	var served bool
	err := pool.GetContext(ctx, &served, findServer, ServerSession)
	return served, err
}
