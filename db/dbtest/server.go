package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/embedded"
	"simgraph/db/pg"
)

// ownTemplate is the database that those of a test binary are cloned from. It has the
// number of the process: several may work on a server that is given.
func ownTemplate() string { return fmt.Sprintf("template_simgraph_%d", os.Getpid()) }

const (
	// roomNeeded in memory: below it, the tests run on disk.
	roomNeeded = 1 << 30
	// dropDelay lets the last connection's process end: PostgreSQL would wait
	// longer for it.
	dropDelay = 40 * time.Millisecond
)

// throwaway trades what only matters to data that shall survive for speed.
var throwaway = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"autovacuum":         "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"max_connections":    "300",
	"max_wal_size":       "256MB",
	"min_wal_size":       "32MB",
	"shared_buffers":     "64MB",
}

type server struct {
	dir      string
	sweeper  *sweeper
	embedded *embedded.Server
	address  *url.URL
	admin    *sqlx.DB
	drops    sync.WaitGroup
	// template is the database that others are cloned from.
	template string
	// use is a share in the use of a server that others started; nil for one's own.
	use *os.File
}

func start(ctx context.Context, migrate Migrate) (*server, error) {
	if address, err := given(); err != nil || address != nil {
		return join(ctx, address, err, migrate)
	}
	if s, err := joinShared(ctx, migrate); s != nil || err != nil {
		return s, err
	}
	return startWith(ctx, usualSettings(), func(s *server) error { return s.makeTemplate(ctx, migrate) })
}

// join takes the server at the address, of which the tests make and drop databases.
func join(ctx context.Context, address *url.URL, err error, migrate Migrate) (*server, error) {
	if err != nil {
		return nil, err
	}
	s := &server{address: address, template: ownTemplate()}
	if s.admin, err = pg.Open(ctx, s.url("postgres"), pg.Options{}); err != nil {
		return nil, err
	}
	if err := s.makeTemplate(ctx, migrate); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// startWith starts a server with the settings; prepare may work on it before it
// is handed out.
func startWith(ctx context.Context, settings map[string]string, prepare func(*server) error) (_ *server, err error) {
	s, err := makeServer()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := s.launch(ctx, settings); err != nil {
		return nil, err
	}
	if s.admin, err = pg.Open(ctx, s.url("postgres"), pg.Options{}); err != nil {
		return nil, err
	}
	return s, prepare(s)
}

// makeServer makes the place of a server.
func makeServer() (*server, error) {
	dir, err := makeDir()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, template: ownTemplate()}
	if s.sweeper, err = sweepAfter(dir); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) launch(ctx context.Context, settings map[string]string) (err error) {
	s.embedded, err = embedded.Start(ctx, embedded.Config{Dir: s.home(), Settings: settings, Purpose: "test"})
	if err != nil {
		return err
	}
	s.address, err = url.Parse(s.embedded.URL())
	return err
}

func (s *server) home() string { return s.dir + "/data" }

// makeDir prefers memory, and lets PostgreSQL's user in, since root's tests run
// the server as another.
func makeDir() (string, error) {
	base := ""
	var space syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &space); err == nil && space.Bavail*uint64(space.Bsize) > roomNeeded {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "simgraph-test-")
	if err != nil && base != "" {
		dir, err = os.MkdirTemp("", "simgraph-test-")
	}
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

func (s *server) makeTemplate(ctx context.Context, migrate Migrate) error {
	if _, err := s.admin.ExecContext(ctx, "CREATE DATABASE "+s.template); err != nil {
		return err
	}
	if err := s.distribute(ctx, s.template); err != nil {
		return err
	}
	if migrate == nil {
		return s.awaitEmpty(ctx)
	}
	pool, err := pg.Open(ctx, s.url(s.template), pg.Options{})
	if err != nil {
		return err
	}
	err = errors.Join(migrate(ctx, pool), pool.Close())
	if err != nil {
		return fmt.Errorf("migrating the template: %w", err)
	}
	return s.awaitEmpty(ctx)
}

// awaitEmpty waits until nobody is connected to the template, which cannot be
// cloned before. It ends the worker that Citus keeps in every database.
func (s *server) awaitEmpty(ctx context.Context) error {
	for _, sql := range []string{
		"ALTER DATABASE " + s.template + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + s.template + "' AND backend_type LIKE 'Citus%'",
	} {
		if _, err := s.admin.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	for {
		var connected int
		err := s.admin.GetContext(ctx, &connected, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", s.template)
		if err != nil || connected == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// clone copies files rather than writing each page to the log.
func (s *server) clone(ctx context.Context, name string) error {
	_, err := s.admin.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE "+s.template+" STRATEGY file_copy")
	return err
}

// drop works in the background: no test needs to wait for it.
func (s *server) drop(name string) {
	s.drops.Go(func() {
		time.Sleep(dropDelay)
		// What stays, the end of the server removes.
		_, _ = s.admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
	})
}

func (s *server) close() error {
	s.drops.Wait()
	var errs []error
	if s.admin != nil && s.embedded == nil && s.use == nil {
		_, err := s.admin.ExecContext(context.Background(), "DROP DATABASE IF EXISTS "+s.template+" WITH (FORCE)")
		errs = append(errs, err)
	}
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	if s.use != nil {
		errs = append(errs, s.use.Close())
	}
	if s.embedded != nil {
		errs = append(errs, s.embedded.Close())
	}
	if s.sweeper != nil {
		errs = append(errs, s.sweeper.sweep())
	} else if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
