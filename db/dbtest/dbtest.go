// Package dbtest gives tests a real PostgreSQL, and an empty migrated database per test:
// on a private server per test binary, or on one that the binaries of a run of all tests
// share. Nothing of it outlives the test binary, or the run, however that ends.
package dbtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// Migrate brings an empty database to the current schema.
type Migrate func(context.Context, *sqlx.DB) error

// startupTime bounds how long the first test waits for server and schema.
const startupTime = 2 * time.Minute

// Main runs the tests of a package and exits; call it from TestMain. The server
// starts with the first test that needs a database. Databases are cloned
// from one that migrate, unless nil, has prepared.
func Main(m *testing.M, migrate Migrate) { os.Exit(Run(m, migrate)) }

// Run is Main for who has something to do before the exit: it returns the code.
func Run(m *testing.M, migrate Migrate) int {
	suite.migrate = migrate
	code := m.Run()
	if err := suite.close(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = max(code, 1)
	}
	return code
}

// New returns a pool on a database of the test's own, which is dropped after
// the test.
func New(t testing.TB) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), URL(t), pg.Options{})
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// CloseIdle closes the idle connections of a pool. A test that has sessions of the database
// ended calls it before it reads by the pool itself: some may be dead, and only package pg
// reads again then.
func CloseIdle(pool *sqlx.DB) {
	pool.SetMaxIdleConns(0)
	pool.SetMaxIdleConns(maxIdle)
}

// maxIdle is how many idle connections a pool has after CloseIdle.
const maxIdle = 8

// URL returns the address of a database of the test's own, which is dropped
// after the test.
func URL(t testing.TB) string {
	t.Helper()
	server, err := suite.running()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), suite.count.Add(1))
	if err := server.clone(t.Context(), name); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { server.drop(name) })
	return server.url(name)
}

// binary is what the tests of one test binary share.
type binary struct {
	migrate Migrate
	count   atomic.Int64
	once    sync.Once
	server  *server
	err     error
}

var suite binary

func (b *binary) running() (*server, error) {
	b.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startupTime)
		defer cancel()
		b.server, b.err = start(ctx, b.migrate)
	})
	return b.server, b.err
}

func (b *binary) close() error {
	if b.server == nil {
		return nil
	}
	return b.server.close()
}

// url is the address of another database on the same server.
func (s *server) url(database string) string {
	address := *s.address
	address.Path = "/" + database
	return address.String()
}
