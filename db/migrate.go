package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrator applies and undoes the migrations of the schema, and waits for locks
// as long as it takes.
func Migrator(pool *sqlx.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return migrator(pool, locker)
}

// migrator makes instances that start together migrate one after the other.
func migrator(pool *sqlx.DB, locker lock.SessionLocker) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, pool.DB, files, goose.WithSessionLocker(locker))
}

// Migrate brings the schema up to date.
func Migrate(ctx context.Context, pool *sqlx.DB) error {
	_, err := NewMigrations(pool, nil, slog.New(slog.DiscardHandler)).Up(ctx)
	return err
}

// Migrations migrate the schema of a database that is in use: see lockPatience.
type Migrations struct {
	pool     *sqlx.DB
	by       *domain.Actor
	log      *slog.Logger
	patience lockPatience
}

// NewMigrations returns the migrations of a pool, best of two connections: the
// second looks who holds what a migration waits for. The audit log of the
// installation records what is done by whom.
func NewMigrations(pool *sqlx.DB, by *domain.Actor, log *slog.Logger) *Migrations {
	return &Migrations{pool: pool, by: by, log: log, patience: usualPatience}
}

// Up applies all pending migrations and returns those that it applied, also
// where a later one failed.
func (m *Migrations) Up(ctx context.Context) ([]*goose.MigrationResult, error) {
	return m.run(ctx, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.Up(ctx) })
}

// Down undoes the newest migration, which it returns.
func (m *Migrations) Down(ctx context.Context) ([]*goose.MigrationResult, error) {
	return m.run(ctx, func(p *goose.Provider) ([]*goose.MigrationResult, error) {
		undone, err := p.Down(ctx)
		if err != nil {
			return nil, err
		}
		return []*goose.MigrationResult{undone}, nil
	})
}

// DownTo undoes all migrations after a version, and returns those that it undid,
// also where a later one failed.
func (m *Migrations) DownTo(ctx context.Context, version int64) ([]*goose.MigrationResult, error) {
	return m.run(ctx, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.DownTo(ctx, version) })
}

func (m *Migrations) run(ctx context.Context, do func(*goose.Provider) ([]*goose.MigrationResult, error)) ([]*goose.MigrationResult, error) {
	if err := Fit(ctx, m.pool); err != nil {
		return nil, err
	}
	var results []*goose.MigrationResult
	err := m.retry(ctx, func(locker lock.SessionLocker) error {
		migrator, err := migrator(m.pool, locker)
		if err != nil {
			return err
		}
		more, err := do(migrator)
		if partial, ok := errors.AsType[*goose.PartialError](err); ok {
			more = partial.Applied
		}
		results = append(results, more...)
		return err
	})
	if err != nil {
		err = fmt.Errorf("migrate the database: %w", err)
	}
	return results, errors.Join(err, m.note(context.WithoutCancel(ctx), results))
}

const auditThere = `SELECT to_regclass('audit_log') IS NOT NULL`

// HasAuditLog reports whether the schema is one that has an audit log.
func HasAuditLog(ctx context.Context, pool *sqlx.DB) (bool, error) {
	var there bool
	err := pool.GetContext(ctx, &there, auditThere)
	return there, pg.Translate(err)
}

// note records migrations in the audit log, where there is one.
func (m *Migrations) note(ctx context.Context, results []*goose.MigrationResult) error {
	if len(results) == 0 {
		return nil
	}
	if there, err := HasAuditLog(ctx, m.pool); err != nil || !there {
		return err
	}
	names := pg.Pluck(results, func(r *goose.MigrationResult) string { return r.Direction + " " + path.Base(r.Source.Path) })
	return audit.NewLog(m.pool).Note(ctx, domain.Whole(domain.Installation).By(m.by), domain.AuditEntry{
		Action: domain.AuditMigrate, SubjectType: "Schema", Changes: []domain.AuditChange{domain.Became("migrations", strings.Join(names, ", "))},
	})
}

// MigrationStatus returns the state of every migration, and the numbers of those that
// the database has and this version does not know, in order.
func MigrationStatus(ctx context.Context, pool *sqlx.DB) (all []*goose.MigrationStatus, unknown []int64, err error) {
	if err := Fit(ctx, pool); err != nil {
		return nil, nil, err
	}
	migrator, err := Migrator(pool)
	if err != nil {
		return nil, nil, err
	}
	if all, err = migrator.Status(ctx); err != nil {
		return nil, nil, err
	}
	known, err := migrationFiles()
	if err != nil {
		return nil, nil, err
	}
	unknown, err = pg.SelectValues[int64](ctx, pool, appliedMigrations)
	unknown = slices.DeleteFunc(unknown, func(version int64) bool { return known[version] != "" })
	slices.Sort(unknown)
	return all, unknown, err
}

// Current returns an error that says so when the schema is not up to date.
func Current(ctx context.Context, pool *sqlx.DB) error {
	// Looking for pending migrations makes their table.
	if err := Fit(ctx, pool); errors.Is(err, errUnfit) {
		return err
	} else if err != nil {
		return errors.New("the database cannot be reached")
	}
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
