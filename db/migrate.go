package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrator applies and undoes the migrations of the schema.
func Migrator(pool *sqlx.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	// Instances that start together migrate one after the other.
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, pool.DB, files, goose.WithSessionLocker(locker))
}

// Migrate brings the schema up to date.
func Migrate(ctx context.Context, pool *sqlx.DB) error {
	migrator, err := Migrator(pool)
	if err != nil {
		return err
	}
	if _, err := migrator.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// Current returns an error that says so when the schema is not up to date.
func Current(ctx context.Context, pool *sqlx.DB) error {
	migrator, err := Migrator(pool)
	if err != nil {
		return err
	}
	pending, err := migrator.HasPending(ctx)
	if err != nil {
		return errors.New("the database cannot be reached")
	}
	if pending {
		return errors.New("the schema of the database is not up to date: run simgraph migrate up")
	}
	return nil
}
