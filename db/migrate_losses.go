package db

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

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
