// Package command holds the commands: serve, which puts the service together and
// runs it, and those that do one thing to the database and end.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/cluster"
	"simgraph/db/embedded"
	"simgraph/db/pg"
	"simgraph/internal/doctor"
)

// Database are the flags that say which database to work on.
type Database struct {
	DatabaseURL string        `name:"database-url" env:"SIMGRAPH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Use this PostgreSQL (15 or newer) instead of the embedded one; several hosts with target_session_attrs=read-write for failover."`
	DataDir     string        `type:"path" default:"${dataDir}" help:"Where the embedded PostgreSQL keeps its data."`
	MaxConns    int           `default:"8" range:"1..10000" help:"Most connections to the database."`
	Pooler      bool          `help:"A pooler that hands out connections by transaction, such as PgBouncer, stands before the database; needs --direct-url."`
	DirectURL   string        `name:"direct-url" placeholder:"URL" help:"The database without the pooler before it, for all but requests: migrations, commands, live events, long work."`
	Timeout     time.Duration `name:"statement-timeout" default:"30s" range:"0s..24h" help:"The longest that a statement of a request may run; half of it for a lock that others hold, and a quarter, at most 10s, without a next statement in its transaction."`
	NoMigrate   bool          `help:"Do not bring the schema up to date."`
}

// Validate is called by kong.
func (d *Database) Validate() error {
	if d.Pooler && (d.DatabaseURL == "" || d.DirectURL == "") {
		return errors.New("--pooler needs --database-url with the address of the pooler, and --direct-url with that of the database")
	}
	return nil
}

// past returns the address of the database without a pooler before it: sessions
// have no meaning behind one, and with them LISTEN and the locks of migrations.
func (d *Database) past(url string) string { return cmp.Or(d.DirectURL, url) }

// Env is what the commands share.
type Env struct {
	Database
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Log            *slog.Logger
	// Hangups are the signals SIGHUP that the program gets; only serve reads them.
	Hangups <-chan os.Signal
	// Settings are those that a server has by the environment of this process.
	Settings *Settings
	// Trace follows the statements of requests; nil follows none.
	Trace func(ctx context.Context, query string) (answered func(error))
}

// Settings are what the environment of the process sets.
type Settings struct {
	// Unknown are variables that look like settings and are none.
	Unknown []doctor.UnknownVariable
	// Server reads the flags of serve from the environment alone.
	Server func() (*Serve, error)
}

// Open attaches to the database, with the schema up to date, for a command of
// that name. Call done when the command is through. Statements of commands may
// run as long as they need.
func (e *Env) Open(ctx context.Context, command string) (pool *sqlx.DB, done func(), err error) {
	pool, _, done, err = e.openAt(ctx, command)
	return pool, done, err
}

// openAt is Open, and returns the address, too.
func (e *Env) openAt(ctx context.Context, command string) (pool *sqlx.DB, url string, done func(), err error) {
	pool, url, done, err = e.open(ctx, command)
	if err != nil || !e.NoMigrate {
		return pool, url, done, err
	}
	if err := errors.Join(cluster.Finished(ctx, pool), db.Current(ctx, pool)); err != nil {
		done()
		return nil, "", nil, err
	}
	return pool, url, done, nil
}

// open is openAt for any schema.
func (e *Env) open(ctx context.Context, command string) (pool *sqlx.DB, url string, done func(), err error) {
	url, stop, err := e.address(ctx, command)
	if err != nil {
		return nil, "", nil, err
	}
	if e.DatabaseURL != "" {
		err = pg.RefusePooler(ctx, url)
	}
	if err == nil {
		pool, err = e.connect(ctx, url, pg.Options{MaxConns: e.MaxConns, Trace: e.Trace})
	}
	if err != nil {
		stop()
		return nil, "", nil, err
	}
	return pool, url, func() { e.warn("close the database", pool.Close()); stop() }, nil
}

// address returns where the database is, past a pooler; the embedded one runs until
// stop.
func (e *Env) address(ctx context.Context, command string) (url string, stop func(), err error) {
	if url := e.past(e.DatabaseURL); url != "" {
		return url, func() {}, nil
	}
	server, err := embedded.Attach(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: command})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), func() { e.warn("stop the database", server.Close()) }, nil
}

// place names the database for people, without its password.
func (e *Env) place() string {
	if url := e.past(e.DatabaseURL); url != "" {
		return newClient(url).url
	}
	return "the embedded database in " + e.DataDir
}

// Connect opens the pool that answers requests, on a schema that is up to date.
func (e *Env) Connect(ctx context.Context, url string) (*sqlx.DB, error) {
	options := pg.Options{
		MaxConns: e.MaxConns, Pooler: e.Pooler, Trace: e.Trace,
		StatementTimeout: e.Timeout, LockTimeout: e.Timeout / 2, IdleTimeout: e.idleTimeout(),
	}
	if err := e.refusePoolers(ctx); err != nil {
		return nil, err
	}
	pool, err := e.connect(ctx, url, options)
	if err != nil {
		return nil, err
	}
	if e.Pooler {
		e.warnUnset(ctx, pool, options)
	}
	if !e.NoMigrate {
		return pool, nil
	}
	if err := cluster.Finished(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// refusePoolers returns an error where a pooler stands before an address that is to have
// none.
func (e *Env) refusePoolers(ctx context.Context) error {
	if e.DatabaseURL != "" && !e.Pooler {
		if err := pg.RefusePooler(ctx, e.DatabaseURL); err != nil {
			return err
		}
	}
	if e.DirectURL == "" {
		return nil
	}
	if err := pg.RefusePooler(ctx, e.DirectURL); err != nil {
		return fmt.Errorf("--direct-url: %w", err)
	}
	return nil
}

// maxIdle bounds how long a transaction of the server may do nothing.
const maxIdle = 10 * time.Second

// idleTimeout is how long a transaction of the server may do nothing: what waits for its
// locks goes on then, before the lock timeout of half of the statement's.
func (e *Env) idleTimeout() time.Duration {
	if e.Timeout == 0 {
		return maxIdle
	}
	return min(maxIdle, e.Timeout/4)
}

// warnUnset names the timeouts that the pooler should set and does not.
func (e *Env) warnUnset(ctx context.Context, pool *sqlx.DB, options pg.Options) {
	unset, err := options.Unset(ctx, pool)
	if err == nil && len(unset) > 0 {
		e.Log.WarnContext(ctx, "the pooler sets no timeout: see PgBouncer in docs/operations.md", "missing", unset)
	}
}

func (e *Env) connect(ctx context.Context, url string, options pg.Options) (*sqlx.DB, error) {
	if !e.NoMigrate {
		if err := e.migrate(ctx, e.past(url)); err != nil {
			return nil, err
		}
	}
	return pg.Open(ctx, url, options)
}

// migrate uses a pool of its own: after a change of the schema, statements that
// a connection had prepared would fail once.
func (e *Env) migrate(ctx context.Context, url string) error {
	pool, err := pg.Open(ctx, url, pg.Options{MaxConns: migrateConns})
	if err != nil {
		return err
	}
	migrations, err := e.migrations(ctx, pool, "migrate up")
	if err == nil {
		_, err = migrations.Up(ctx)
	}
	return errors.Join(err, pool.Close())
}

// migrations returns those of a database that is distributed as a whole, or not at
// all.
func (e *Env) migrations(ctx context.Context, pool *sqlx.DB, command string) (*db.Migrations, error) {
	if err := cluster.Finished(ctx, pool); err != nil {
		return nil, err
	}
	return db.NewMigrations(pool, actor(command), e.Log), nil
}

// migrateConns is one for migrations, and one to see who is in their way.
const migrateConns = 2

func (e *Env) warn(what string, err error) {
	if err != nil {
		e.Log.Warn(what, "error", err)
	}
}

func (e *Env) printf(format string, args ...any) { _, _ = fmt.Fprintf(e.Stdout, format, args...) }
