package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"slices"
	"strconv"
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

// Migrator applies and undoes the migrations of the schema in a session like that of
// Migrations, but waits for locks as long as it takes.
func Migrator(pool *sqlx.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return migrator(pool, &migrationSession{SessionLocker: locker})
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
		return unreached(err)
	}
	migrator, err := Migrator(pool)
	if err != nil {
		return err
	}
	pending, err := migrator.HasPending(ctx)
	if err != nil {
		return unreached(err)
	}
	if pending {
		return errors.New("the schema of the database is not up to date: run simgraph migrate up")
	}
	return nil
}

// Errors of Current. They name no address, since /readyz answers them without sign-in.
var (
	errNoPrimary = errors.New("the database has no primary: those of its hosts that answer are standbys, or read-only")
	errUnreached = errors.New("the database cannot be reached")
)

func unreached(err error) error {
	if pg.NoPrimary(err) {
		return errNoPrimary
	}
	return errUnreached
}

// IsUnreached reports whether err of Current says that the database could not be asked.
func IsUnreached(err error) bool {
	return errors.Is(err, errNoPrimary) || errors.Is(err, errUnreached)
}

// MigrationLoss is what undoing migrations deletes of one table.
type MigrationLoss struct {
	Table string
	// Column is "" where rows are deleted.
	Column string
	// Where is the condition on rows that are deleted; "" for the table as a whole.
	Where string
	// Rows are those that hold something there, at most one more than CountedRows.
	Rows int
}

// CountedRows bounds what is counted of a loss.
const CountedRows = 1_000_000

// String describes the loss on a line.
func (l MigrationLoss) String() string {
	n := fmt.Sprintf("%d rows", l.Rows)
	if l.Rows > CountedRows {
		n = fmt.Sprintf("more than %d rows", CountedRows)
	}
	switch {
	case l.Column != "":
		return fmt.Sprintf("column %s of %s: set in %s", l.Column, l.Table, n)
	case l.Where != "":
		return fmt.Sprintf("rows of %s where %s: %s", l.Table, l.Where, n)
	}
	return fmt.Sprintf("table %s: %s", l.Table, n)
}

const appliedMigrations = `SELECT version_id FROM goose_db_version WHERE is_applied AND version_id > 0 ORDER BY id DESC`

// Undoing returns the migrations that undoing the newest, or all after a version,
// would undo, the newest first, and what would be deleted.
func (m *Migrations) Undoing(ctx context.Context, to *int64) (files []string, losses []MigrationLoss, err error) {
	if err := Fit(ctx, m.pool); err != nil {
		return nil, nil, err
	}
	known, err := migrationFiles()
	if err != nil {
		return nil, nil, err
	}
	if to != nil && *to != 0 && known[*to] == "" {
		return nil, nil, domain.Invalid("to", "there is no migration %d: simgraph migrate status lists them", *to)
	}
	applied, err := m.applied(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, version := range applied {
		if to != nil && version <= *to {
			break
		}
		if known[version] == "" {
			return nil, nil, fmt.Errorf("migration %d is of a newer version of simgraph: undo it by that one", version)
		}
		files = append(files, known[version])
		if to == nil {
			break
		}
	}
	losses, err = m.losses(ctx, files)
	return files, losses, err
}

// applied are the versions of the database, the latest first.
func (m *Migrations) applied(ctx context.Context) ([]int64, error) {
	var there bool
	if err := m.pool.GetContext(ctx, &there, `SELECT to_regclass('goose_db_version') IS NOT NULL`); err != nil || !there {
		return nil, pg.Translate(err)
	}
	return pg.SelectValues[int64](ctx, m.pool, appliedMigrations)
}

// migrationFiles are the names of all migrations by their numbers.
func migrationFiles() (map[int64]string, error) {
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	files := map[int64]string{}
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", entry.Name(), err)
		}
		files[version] = entry.Name()
	}
	return files, nil
}

// losses counts what the migrations of the files delete when they are undone.
func (m *Migrations) losses(ctx context.Context, files []string) ([]MigrationLoss, error) {
	var all []MigrationLoss
	for _, file := range files {
		text, err := fs.ReadFile(migrations, path.Join("migrations", file))
		if err != nil {
			return nil, err
		}
		all = append(all, lossesOf(string(text))...)
	}
	// What goes with its table is not counted once more.
	dropped := map[string]bool{}
	for _, loss := range all {
		dropped[loss.Table] = dropped[loss.Table] || loss.whole()
	}
	all = slices.DeleteFunc(all, func(l MigrationLoss) bool { return dropped[l.Table] && !l.whole() })
	for i := range all {
		n, err := all[i].count(ctx, m.pool)
		if err != nil {
			return nil, fmt.Errorf("count what is deleted: %s: %w", all[i].Table, err)
		}
		all[i].Rows = n
	}
	return all, nil
}

func (l MigrationLoss) whole() bool { return l.Column == "" && l.Where == "" }

var (
	droppedTables  = regexp.MustCompile(`(?s)^DROP TABLE (?:IF EXISTS )?(.+)$`)
	alteredTable   = regexp.MustCompile(`(?s)^ALTER TABLE (\w+)\s+(.+)$`)
	droppedColumn  = regexp.MustCompile(`DROP COLUMN (?:IF EXISTS )?(\w+)`)
	deletedRows    = regexp.MustCompile(`(?s)^DELETE FROM (\w+) WHERE (.+)$`)
	functionBodies = regexp.MustCompile(`(?s)-- \+goose StatementBegin.*?-- \+goose StatementEnd`)
	comments       = regexp.MustCompile(`--[^\n]*`)
)

// lossesOf reads what the migration of a text deletes when it is undone. Such a
// statement stands for itself: none is in the body of a function.
func lossesOf(migration string) (losses []MigrationLoss) {
	for _, statement := range undoStatements(migration) {
		if found := droppedTables.FindStringSubmatch(statement); found != nil {
			for table := range strings.SplitSeq(found[1], ",") {
				losses = append(losses, MigrationLoss{Table: strings.TrimSpace(table)})
			}
		}
		if found := alteredTable.FindStringSubmatch(statement); found != nil {
			for _, column := range droppedColumn.FindAllStringSubmatch(found[2], -1) {
				losses = append(losses, MigrationLoss{Table: found[1], Column: column[1]})
			}
		}
		if found := deletedRows.FindStringSubmatch(statement); found != nil {
			losses = append(losses, MigrationLoss{Table: found[1], Where: found[2]})
		}
	}
	return losses
}

// undoStatements are the statements by which a migration is undone.
func undoStatements(migration string) (statements []string) {
	_, undo, _ := strings.Cut(migration, "-- +goose Down\n")
	undo = comments.ReplaceAllString(functionBodies.ReplaceAllString(undo, ""), "")
	for statement := range strings.SplitSeq(undo, ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			statements = append(statements, statement)
		}
	}
	return statements
}

const (
	countLoss = `SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {where} LIMIT {most}) AS held`
	// heldColumn is the condition on rows that hold something in a column: another
	// value than its default, and nothing that the database derives.
	heldColumn = `
SELECT CASE WHEN a.attgenerated <> '' THEN 'false'
  ELSE quote_ident(a.attname) || ' IS DISTINCT FROM ' || coalesce('(' || pg_get_expr(d.adbin, d.adrelid) || ')', 'NULL') END
FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = to_regclass($1) AND a.attname = $2`
)

func (l MigrationLoss) count(ctx context.Context, pool *sqlx.DB) (int, error) {
	where := l.Where
	switch {
	case l.Column != "":
		if err := pool.GetContext(ctx, &where, heldColumn, l.Table, l.Column); err != nil {
			return 0, err
		}
	case where == "":
		where = "true"
	}
	return pg.Count(ctx, pool, pg.Fill(countLoss, "table", l.Table, "where", where, "most", strconv.Itoa(CountedRows+1)))
}

// Pending returns how many migrations the database lacks, and which of its own this
// version does not know. It writes nothing.
func Pending(ctx context.Context, pool *sqlx.DB) (pending int, unknown []int64, err error) {
	known, err := migrationFiles()
	if err != nil {
		return 0, nil, err
	}
	var made bool
	if err := pool.GetContext(ctx, &made, `SELECT to_regclass('goose_db_version') IS NOT NULL`); err != nil {
		return 0, nil, pg.Translate(err)
	}
	pending = len(known)
	if !made {
		return pending, nil, nil
	}
	applied, err := pg.SelectValues[int64](ctx, pool, appliedMigrations)
	for _, version := range applied {
		if known[version] != "" {
			pending--
		} else {
			unknown = append(unknown, version)
		}
	}
	return pending, unknown, err
}
