package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// Cluster is a coordinator of Citus with workers, all of the test's own.
type Cluster struct {
	// URL is the address of the database at the coordinator.
	URL string

	t     testing.TB
	nodes []*server
}

// clustered are the settings of nodes. What was committed outlives a crash of the
// server.
var clustered = map[string]string{
	"fsync": "off", "synchronous_commit": "on", "autovacuum": "off", "max_connections": "200", "shared_buffers": "64MB",
	"wal_level": "logical", "max_wal_senders": "10", "max_replication_slots": "10", "max_logical_replication_workers": "10", "max_worker_processes": "20",
	"max_prepared_transactions": "100", "max_locks_per_transaction": "1024",
	"shared_preload_libraries": "citus", "citus.shard_count": "4", "citus.enable_statistics_collection": "off",
	"citus.recover_2pc_interval": "1s", "citus.node_connection_timeout": "5s",
}

const citusAvailable = `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus')`

// NewCluster starts the nodes, which end with the test. The test is skipped where
// PostgreSQL has no Citus. before, unless nil, may fill the database of the
// coordinator before it has the extension.
func NewCluster(t testing.TB, workers int, before func(url string)) *Cluster {
	t.Helper()
	shared, err := suite.running()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	var available bool
	if err := shared.admin.GetContext(t.Context(), &available, citusAvailable); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	if !available {
		t.Skip("PostgreSQL has no extension citus; with it, this is tested too")
	}
	c := &Cluster{t: t}
	c.URL = c.start(before).url(pairDatabase)
	c.do(nameItself, c.host(0))
	for range workers {
		c.AddWorker()
	}
	return c
}

// start starts another node.
func (c *Cluster) start(before func(url string)) *server {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), startupTime)
	defer cancel()
	node, err := startWith(ctx, clustered, func(node *server) error {
		if before != nil {
			before(node.url(pairDatabase))
		}
		return c.prepare(node)
	})
	if err != nil {
		c.t.Fatalf("dbtest: a node: %v", err)
	}
	c.nodes = append(c.nodes, node)
	c.t.Cleanup(func() {
		if err := node.close(); err != nil {
			c.t.Errorf("dbtest: %v", err)
		}
	})
	return node
}

// prepare gives a node the extension, and all nodes the password of the first.
func (c *Cluster) prepare(node *server) error {
	password, _ := node.address.User.Password()
	if len(c.nodes) > 0 {
		password, _ = c.nodes[0].address.User.Password()
	}
	pool, err := pg.Open(c.t.Context(), node.url(pairDatabase), pg.Options{})
	if err != nil {
		return err
	}
	_, extension := pool.ExecContext(c.t.Context(), addCitus)
	_, let := pool.ExecContext(c.t.Context(), letIn, password)
	_, name := pool.ExecContext(c.t.Context(), fmt.Sprintf("ALTER SYSTEM SET citus.local_hostname = '%s'", socketOf(node.address)))
	_, reload := pool.ExecContext(c.t.Context(), "SELECT pg_reload_conf()")
	_, change := pool.ExecContext(c.t.Context(), fmt.Sprintf("ALTER ROLE CURRENT_USER PASSWORD '%s'", password))
	node.address.User = url.UserPassword(node.address.User.Username(), password)
	return errors.Join(extension, let, name, reload, change, pool.Close(), os.WriteFile(node.home()+"/password", []byte(password+"\n"), 0o600))
}

// do runs a statement at the coordinator.
func (c *Cluster) do(sql string, args ...any) {
	c.t.Helper()
	c.with(func(pool *sqlx.DB) error {
		_, err := pool.ExecContext(c.t.Context(), sql, args...)
		return err
	})
}

// with does something in a new session: older ones keep connections to workers
// that were killed.
func (c *Cluster) with(do func(*sqlx.DB) error) {
	c.t.Helper()
	pool, err := pg.Open(c.t.Context(), c.URL, pg.Options{MaxConns: 1})
	if err == nil {
		err = errors.Join(do(pool), pool.Close())
	}
	if err != nil {
		c.t.Fatalf("dbtest: %v", err)
	}
}

func (c *Cluster) host(node int) string { return socketOf(c.nodes[node].address) }

// AddWorker starts a node and adds it to the cluster.
func (c *Cluster) AddWorker() {
	c.t.Helper()
	c.start(nil)
	c.do(`SELECT citus_add_node($1, current_setting('port')::int)`, c.host(len(c.nodes)-1))
	c.do(`SELECT replicate_reference_tables()`)
}

// Worker returns the address of the database at a worker, from 1.
func (c *Cluster) Worker(n int) string {
	return c.nodes[n].url(pairDatabase)
}

const (
	nodeOf = `
SELECT n.nodename FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
WHERE p.shardid = get_shard_id_for_distribution_column('companies', $1::bigint)`
	moveCompany = `
SELECT citus_move_shard_placement(p.shardid, n.nodename, n.nodeport, $2, n.nodeport)
FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
WHERE p.shardid = get_shard_id_for_distribution_column('companies', $1::bigint)`
)

// NodeOf returns which worker has the rows of a company.
func (c *Cluster) NodeOf(company int64) int {
	c.t.Helper()
	var host string
	c.with(func(pool *sqlx.DB) error { return pool.GetContext(c.t.Context(), &host, nodeOf, company) })
	for n := range c.nodes {
		if c.host(n) == host {
			return n
		}
	}
	c.t.Fatalf("dbtest: company %d is on no node", company)
	return 0
}

// Move moves a company, with those that share its shards, to a worker.
func (c *Cluster) Move(company int64, worker int) {
	c.t.Helper()
	c.do(moveCompany, company, c.host(worker))
}

// Kill ends a node at once, as a crash would: 0 is the coordinator.
func (c *Cluster) Kill(node int) {
	c.t.Helper()
	of := c.nodes[node]
	pid, err := of.pid()
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGQUIT)
	}
	if err != nil {
		c.t.Fatalf("dbtest: %v", err)
	}
	<-of.embedded.Done()
	if err := of.embedded.Close(); err != nil {
		c.t.Fatalf("dbtest: %v", err)
	}
	_ = of.admin.Close() // of which the connections are lost
	of.admin = nil
}

// Freeze stops all processes of a worker where they are, so that it takes
// connections and answers none, until thaw.
func (c *Cluster) Freeze(node int) (thaw func()) {
	c.t.Helper()
	return freeze(c.t, c.nodes[node], c.nodes[node].url("postgres"))
}

// Restart starts a node again after Kill, at the same address.
func (c *Cluster) Restart(node int) {
	c.t.Helper()
	if err := c.nodes[node].launch(c.t.Context(), clustered); err != nil {
		c.t.Fatalf("dbtest: %v", err)
	}
}
