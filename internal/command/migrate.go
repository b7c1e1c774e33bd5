package command

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"simgraph/db"
)

// Migrate groups the commands about the schema.
type Migrate struct {
	Up         MigrateUp         `cmd:"" help:"Apply all pending migrations."`
	Status     MigrateStatus     `cmd:"" help:"Show which migrations are applied, and whether the database is distributed."`
	Distribute MigrateDistribute `cmd:"" help:"Distribute the database by company over the nodes of Citus. No server may run meanwhile."`
	Down       MigrateDown       `cmd:"" help:"Undo the newest migration, or all after one, with the data that only they hold."`
}

// MigrateUp applies migrations.
type MigrateUp struct{}

// Run applies what is pending.
func (MigrateUp) Run(ctx context.Context, env *Env) error {
	return withSchema(ctx, env, func(pool *sqlx.DB) error {
		migrations, err := env.migrations(ctx, pool, "migrate up")
		if err != nil {
			return err
		}
		applied, err := migrations.Up(ctx)
		for _, one := range applied {
			env.printf("%s\n", one)
		}
		if err == nil && len(applied) == 0 {
			env.printf("the schema is up to date\n")
		}
		return err
	})
}

// MigrateStatus lists migrations.
type MigrateStatus struct{}

// Run lists every migration with the time at which it was applied.
func (MigrateStatus) Run(ctx context.Context, env *Env) error {
	return withSchema(ctx, env, func(pool *sqlx.DB) error {
		all, unknown, err := db.MigrationStatus(ctx, pool)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
		for _, one := range all {
			applied := "pending"
			if one.State == goose.StateApplied {
				applied = one.AppliedAt.UTC().Format("2006-01-02 15:04:05")
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\n", one.Source.Path, applied)
		}
		for _, version := range unknown {
			_, _ = fmt.Fprintf(table, "%05d\tapplied by a newer version of simgraph, and unknown to this one\n", version)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		return printDistribution(ctx, env, pool)
	})
}

// MigrateDown undoes migrations.
type MigrateDown struct {
	To *int64 `placeholder:"NUMBER" help:"Undo all migrations after the one of this number, such as 9, instead of the newest alone."`
	Consent
}

// Help shows examples.
func (MigrateDown) Help() string {
	return `Examples:

	simgraph migrate down --to 9
	simgraph migrate down --to 9 --yes

What would be undone and deleted is listed with the numbers of rows, and nothing
is undone without --yes, nor while a server uses the database. What was deleted
comes back from a backup only, which is made before: simgraph backup FILE.`
}

// Run lists what is lost, and undoes the newest applied migration, or all after
// one, when --yes was given.
func (m MigrateDown) Run(ctx context.Context, env *Env) error {
	return withSchema(ctx, env, func(pool *sqlx.DB) error {
		migrations, err := env.migrations(ctx, pool, "migrate down")
		if err != nil {
			return err
		}
		files, losses, err := migrations.Undoing(ctx, m.To)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			env.printf("there is nothing to undo\n")
			return nil
		}
		if err := m.warn(ctx, env, pool, files, losses); err != nil {
			return err
		}
		undone, err := m.undo(ctx, migrations)
		for _, one := range undone {
			env.printf("%s\n", one)
		}
		return err
	})
}

// warn prints what is undone and deleted, and which backup has it. It returns an
// error when that must not be, or was not agreed to.
func (m MigrateDown) warn(ctx context.Context, env *Env, pool *sqlx.DB, files []string, losses []db.MigrationLoss) error {
	env.printf("These migrations are undone:\n  %s\n", strings.Join(files, "\n  "))
	if len(losses) > 0 {
		env.printf("What only they hold is deleted:\n")
	}
	for _, loss := range losses {
		env.printf("  %s\n", loss)
	}
	if err := printBackup(ctx, env, pool); err != nil {
		return err
	}
	if err := unserved(ctx, pool, "it would lose tables that it uses"); err != nil {
		return err
	}
	return m.agreed("undone", "delete this")
}

func (m MigrateDown) undo(ctx context.Context, all *db.Migrations) ([]*goose.MigrationResult, error) {
	if m.To == nil {
		return all.Down(ctx)
	}
	return all.DownTo(ctx, *m.To)
}

// withSchema attaches without migrating.
func withSchema(ctx context.Context, env *Env, do func(*sqlx.DB) error) error {
	manual := *env
	manual.NoMigrate, manual.MaxConns = true, max(migrateConns, env.MaxConns)
	pool, _, done, err := manual.open(ctx, "migrate")
	if err != nil {
		return err
	}
	defer done()
	return do(pool)
}

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
