package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"simgraph/domain"
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
	_, err := MigrateUp(ctx, pool, nil)
	return err
}

// MigrateUp applies all pending migrations, which it returns, and tells the
// audit log of the installation who did.
func MigrateUp(ctx context.Context, pool *sqlx.DB, by *domain.Actor) ([]*goose.MigrationResult, error) {
	migrator, err := Migrator(pool)
	if err != nil {
		return nil, err
	}
	applied, err := migrator.Up(ctx)
	if err != nil {
		return applied, fmt.Errorf("migrate the database: %w", err)
	}
	return applied, noteMigrations(ctx, pool, by, applied)
}

// MigrateDown undoes the newest migration, which it returns; the audit log is
// told as long as there is one.
func MigrateDown(ctx context.Context, pool *sqlx.DB, by *domain.Actor) (*goose.MigrationResult, error) {
	migrator, err := Migrator(pool)
	if err != nil {
		return nil, err
	}
	undone, err := migrator.Down(ctx)
	if err != nil {
		return undone, err
	}
	var there bool
	if err := pool.GetContext(ctx, &there, auditThere); err != nil || !there {
		return undone, Translate(err)
	}
	return undone, noteMigrations(ctx, pool, by, []*goose.MigrationResult{undone})
}

const auditThere = `SELECT to_regclass('audit_log') IS NOT NULL`

func noteMigrations(ctx context.Context, pool *sqlx.DB, by *domain.Actor, results []*goose.MigrationResult) error {
	if len(results) == 0 {
		return nil
	}
	names := pluck(results, func(r *goose.MigrationResult) string { return r.Direction + " " + path.Base(r.Source.Path) })
	return NewAuditLog(pool).Note(ctx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: domain.AuditMigrate, SubjectType: "Schema", Changes: []domain.AuditChange{domain.Became("migrations", strings.Join(names, ", "))},
	})
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
