// Package command holds the commands beside serve: each does one thing to the
// database and ends.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/embedded"
)

// Database are the flags that say which database to work on.
type Database struct {
	DatabaseURL string        `name:"database-url" env:"SIMGRAPH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Use this PostgreSQL (14 or newer) instead of the embedded one."`
	DataDir     string        `type:"path" default:"${dataDir}" help:"Where the embedded PostgreSQL keeps its data."`
	MaxConns    int           `default:"8" help:"Most connections to the database."`
	Pooler      bool          `help:"A pooler that hands out connections by transaction, such as PgBouncer, stands before the database."`
	Timeout     time.Duration `name:"statement-timeout" default:"30s" help:"The longest that a statement of a request may run."`
	NoMigrate   bool          `help:"Do not bring the schema up to date."`
}

// Env is what the commands share.
type Env struct {
	Database
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Log            *slog.Logger
	// Trace follows the statements of requests; nil follows none.
	Trace func(ctx context.Context, query string) (answered func(error))
}

// Open attaches to the database, with the schema up to date, for a command of
// that name. Call done when the command is through. Statements of commands may
// run as long as they need.
func (e *Env) Open(ctx context.Context, command string) (pool *sqlx.DB, done func(), err error) {
	url := e.DatabaseURL
	stop := func() {}
	if url == "" {
		server, err := embedded.Attach(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: command})
		if err != nil {
			return nil, nil, err
		}
		url = server.URL()
		stop = func() { e.warn("stop the database", server.Close()) }
	}
	pool, err = e.Connect(ctx, url, 0)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return pool, func() { e.warn("close the database", pool.Close()); stop() }, nil
}

// Connect opens a pool on the database and brings the schema up to date.
func (e *Env) Connect(ctx context.Context, url string, statementTimeout time.Duration) (*sqlx.DB, error) {
	if !e.NoMigrate {
		if err := migrate(ctx, url, e.Pooler); err != nil {
			return nil, err
		}
	}
	return db.Open(ctx, url, db.Options{MaxConns: e.MaxConns, Pooler: e.Pooler, StatementTimeout: statementTimeout, Trace: e.Trace})
}

// migrate uses a pool of its own: after a change of the schema, statements that
// a connection had prepared would fail once.
func migrate(ctx context.Context, url string, pooler bool) error {
	pool, err := db.Open(ctx, url, db.Options{MaxConns: 2, Pooler: pooler})
	if err != nil {
		return err
	}
	_, err = db.MigrateUp(ctx, pool, actor("migrate up"))
	return errors.Join(err, pool.Close())
}

func (e *Env) warn(what string, err error) {
	if err != nil {
		e.Log.Warn(what, "error", err)
	}
}

func (e *Env) printf(format string, args ...any) { _, _ = fmt.Fprintf(e.Stdout, format, args...) }
