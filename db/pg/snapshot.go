package pg

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
)

// beginSnapshot sees all that is committed before its next statement, and nothing later.
const beginSnapshot = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`

// OpenSnapshot returns a pool of one connection of its own, in one transaction that only
// reads: all statements see the database as it is at one moment, and have no time limit. The
// address must have no pooler before it. Stores on the pool read as on any other, one
// statement at a time. To close the pool ends the snapshot.
func OpenSnapshot(ctx context.Context, address string, opt Options) (*sqlx.DB, error) {
	opt.StatementTimeout, opt.LockTimeout, opt.IdleTimeout, opt.Pooler = 0, 0, 0, false
	cfg, err := configure(address, opt)
	if err != nil {
		return nil, err
	}
	connector, err := newConnector(cfg, opt, &net.Dialer{KeepAlive: keepAlive})
	if err != nil {
		return nil, err
	}
	pool := poolOf(&onceConnector{Connector: connector}, 1)
	if _, err := pool.ExecContext(ctx, beginSnapshot); err != nil {
		return nil, errors.Join(Translate(err), pool.Close())
	}
	return pool, nil
}

// onceConnector connects once: another connection would be outside of the transaction.
type onceConnector struct {
	driver.Connector
	connected atomic.Bool
}

var errSnapshotLost = errors.New("the connection of the snapshot was lost")

// Connect implements driver.Connector.
func (c *onceConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.connected.Swap(true) {
		return nil, errSnapshotLost
	}
	return c.Connector.Connect(ctx)
}
