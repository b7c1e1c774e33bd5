package command

import (
	"context"
	"fmt"
	"text/tabwriter"

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
		migrator, err := db.Migrator(pool)
		if err != nil {
			return err
		}
		all, err := migrator.Status(ctx)
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
		if err := table.Flush(); err != nil {
			return err
		}
		return printDistribution(ctx, env, pool)
	})
}

// MigrateDown undoes migrations.
type MigrateDown struct {
	To *int64 `placeholder:"NUMBER" help:"Undo all migrations after the one of this number, such as 9, instead of the newest alone."`
}

// Run undoes the newest applied migration, or all after one.
func (m MigrateDown) Run(ctx context.Context, env *Env) error {
	return withSchema(ctx, env, func(pool *sqlx.DB) error {
		migrations, err := env.migrations(ctx, pool, "migrate down")
		if err != nil {
			return err
		}
		undone, err := m.undo(ctx, migrations)
		for _, one := range undone {
			env.printf("%s\n", one)
		}
		if err == nil && len(undone) == 0 {
			env.printf("there is nothing to undo\n")
		}
		return err
	})
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
	pool, done, err := manual.open(ctx, "migrate")
	if err != nil {
		return err
	}
	defer done()
	return do(pool)
}
