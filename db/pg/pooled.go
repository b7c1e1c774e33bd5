package pg

import (
	"context"
	"errors"
	"fmt"
)

// errPooled is of sessions that are not those of the server.
var errPooled = errors.New("two connections share a session of the server")

// pooledRounds is how often the sessions are compared: a pooler may have several that
// are idle.
const pooledRounds = 8

// RefusePooler returns an error where a pooler stands before the database that hands out
// its connections by transaction: two connections are in one session of the server there,
// or one is in several. Locks of sessions, LISTEN and prepared statements have no
// meaning then.
func RefusePooler(ctx context.Context, address string) (err error) {
	pool, err := Open(ctx, address, Options{MaxConns: 2, Pooler: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var pids [2]int
	one, err := pool.Conn(ctx)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = one.Close() }()
	other, err := pool.Conn(ctx)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = other.Close() }()
	for round := range pooledRounds {
		before := pids
		err := errors.Join(
			one.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pids[0]),
			other.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pids[1]),
		)
		if err != nil {
			return fmt.Errorf("whether a pooler stands before the database: %w", Translate(err))
		}
		if pids[0] == pids[1] || round > 0 && pids != before {
			return &ConnectError{Place: Place(address), Err: errPooled}
		}
	}
	return nil
}
