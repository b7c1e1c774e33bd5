package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Replica is a hot standby of the primary database, which takes reads.
type Replica struct {
	place   string
	address string
	// cluster is what the standby must be a copy of.
	cluster string
	pool    *sqlx.DB
	conns   *conns
	// probe has a connection of its own, so that it neither waits for reads nor
	// is closed with theirs.
	probe      *sqlx.DB
	probeConns *conns
}

// probeTime is how long a standby may take to say where it is.
const probeTime = 2 * time.Second

// OpenReplica returns the standby at the address, of the cluster of that name
// (see Cluster), without connecting to it: one that is down may come up later.
func OpenReplica(address, cluster string, opt Options) (*Replica, error) {
	cfg, err := configure(address, opt)
	if err != nil {
		return nil, err
	}
	r := &Replica{place: place(cfg), address: address, cluster: cluster, conns: newConns(), probeConns: newConns()}
	if r.pool, err = newPool(cfg, opt, r.conns); err != nil {
		return nil, err
	}
	r.probe, err = newPool(cfg, Options{MaxConns: 1, Pooler: opt.Pooler, StatementTimeout: probeTime}, r.probeConns)
	return r, err
}

// Pool answers reads.
func (r *Replica) Pool() *sqlx.DB { return r.pool }

// Place is the address of the standby, without credentials.
func (r *Replica) Place() string { return r.place }

// OpenSnapshot is OpenSnapshot on the standby.
func (r *Replica) OpenSnapshot(ctx context.Context, opt Options) (*sqlx.DB, error) {
	return OpenSnapshot(ctx, r.address, opt)
}

// Close closes the connections.
func (r *Replica) Close() error { return errors.Join(r.pool.Close(), r.probe.Close()) }

// CloseAll closes the connections for reads. Reads that wait for the standby fail
// at once, and so do new ones until Reopen.
func (r *Replica) CloseAll() { r.conns.closeAll() }

// Reopen lets reads connect to the standby again.
func (r *Replica) Reopen() { r.conns.reopen() }

const replayed = `
SELECT pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn(), '0/0')::text, (SELECT system_identifier::text FROM pg_control_system())`

// Replayed returns the LSN up to which the standby has the primary's writes. It fails
// within seconds where the server is down or hangs, was promoted, or is none of
// the cluster.
func (r *Replica) Replayed(ctx context.Context) (lsn string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r.probeConns.reopen()
	defer context.AfterFunc(ctx, r.probeConns.closeAll)()
	var (
		standby bool
		cluster string
	)
	if err := r.probe.QueryRowContext(ctx, replayed).Scan(&standby, &lsn, &cluster); err != nil {
		return "", Translate(err)
	}
	switch {
	case !standby:
		return "", errors.New("the server is no standby: it takes writes of its own")
	case cluster != r.cluster:
		return "", errors.New("the server is a standby of another database")
	}
	return lsn, nil
}

// ShouldFallBack reports, of an error of a read on the pool, whether the primary
// could answer where the standby did not, and whether the standby is down. Errors
// that a caller made are those of any server, and what took too long here takes as
// long there.
func (r *Replica) ShouldFallBack(err error) (retry, down bool) {
	fault, is := domain.AsError(err)
	if is && fault.Kind != domain.KindUnavailable || stopped(Translate(err)) {
		return false, false
	}
	return true, unreachable(err)
}

const (
	// written counts what is not on disk yet too, so that it also holds with
	// synchronous_commit = off.
	written = `SELECT pg_current_wal_insert_lsn()::text`
	cluster = `SELECT system_identifier::text FROM pg_control_system()`
)

// Written returns the LSN of the primary, which is behind every write that was
// committed before.
func Written(ctx context.Context, pool *sqlx.DB) (lsn string, err error) {
	err = Translate(pool.GetContext(ctx, &lsn, written))
	return lsn, err
}

// Cluster names the cluster of the pool's server, which its standbys share.
func Cluster(ctx context.Context, pool *sqlx.DB) (name string, err error) {
	err = Translate(pool.GetContext(ctx, &name, cluster))
	return name, err
}
