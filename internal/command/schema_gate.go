package command

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
)

// schemaGate knows whether the schema of the database is up to date, which
// it may not be where the server does not migrate it.
type schemaGate struct {
	pool    *sqlx.DB
	current atomic.Bool
}

func newSchemaGate(pool *sqlx.DB, migrated bool) *schemaGate {
	gate := &schemaGate{pool: pool}
	gate.current.Store(migrated)
	return gate
}

// check returns why the schema cannot be used. A schema that could once can always:
// migrations keep what this version uses.
func (g *schemaGate) check(ctx context.Context) error {
	if g.current.Load() {
		return nil
	}
	err := db.Current(ctx, g.pool)
	if err == nil {
		g.current.Store(true)
	}
	return err
}

// schemaEvery is how often workers look whether the schema is up to date.
const schemaEvery = time.Second

// await returns when the schema is up to date, or ctx ends.
func (g *schemaGate) await(ctx context.Context) {
	for ctx.Err() == nil && g.check(ctx) != nil {
		wait(ctx, schemaEvery)
	}
}
