package pg

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

const hasCitus = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

// HasCitus reports whether the database has the extension.
func HasCitus(ctx context.Context, pool *sqlx.DB) (has bool, err error) {
	err = pool.GetContext(ctx, &has, "SELECT "+hasCitus)
	return has, Translate(err)
}

// refuseWorker returns an error for a worker of Citus. NOTIFY reaches only those
// that listen on the same node, and each node has sequences and migrations of its
// own, so all sessions are with the coordinator.
func refuseWorker(ctx context.Context, pool *sqlx.DB) error {
	var group int
	if err := pool.GetContext(ctx, &group, "SELECT groupid FROM pg_dist_local_group"); err != nil {
		return err
	}
	if group != 0 {
		return errors.New("the server is a worker of Citus: use the address of the coordinator")
	}
	return nil
}
