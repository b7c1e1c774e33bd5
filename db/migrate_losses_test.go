package db_test

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// held are the tables of the schema, and their columns as table.column.
func held(t *testing.T, pool *sqlx.DB) (tables, columns map[string]bool) {
	t.Helper()
	tables, columns = map[string]bool{}, map[string]bool{}
	for name, column := range reliedOn(t, pool).columns {
		tables[column.Table], columns[name] = true, true
	}
	return tables, columns
}

// What migrations delete is read from their texts, and compared with what is gone from
// the catalogue once each is undone.
func TestWhatUndoingAMigrationDeletesIsListed(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	migrations := db.NewMigrations(pool, nil, slog.New(slog.DiscardHandler))
	for {
		files, losses, err := migrations.Undoing(t.Context(), nil)
		fatal.If(t, err)
		if len(files) == 0 {
			return
		}
		tables, columns := held(t, pool)
		if _, err := migrations.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		tablesLeft, columnsLeft := held(t, pool)
		var want, listed []string
		for name := range columns {
			table, _, _ := strings.Cut(name, ".")
			if tables[table] && tablesLeft[table] && !columnsLeft[name] {
				want = append(want, name)
			}
		}
		for table := range tables {
			if !tablesLeft[table] {
				want = append(want, table)
			}
		}
		for _, loss := range losses {
			switch {
			case loss.Column != "":
				listed = append(listed, loss.Table+"."+loss.Column)
			case loss.Where == "":
				listed = append(listed, loss.Table)
			}
		}
		slices.Sort(want)
		slices.Sort(listed)
		if !slices.Equal(want, listed) {
			t.Errorf("%s deletes %v, listed are %v", files, want, listed)
		}
	}
}

// undoes are the kinds of statements by which migrations are undone. Those that
// delete are known to what lists losses: DROP TABLE, DROP COLUMN, DELETE. A schema that is
// dropped is empty.
var (
	undoes = regexp.MustCompile(`(?s)^(DROP (TABLE|FUNCTION|INDEX|STATISTICS|VIEW|SCHEMA) |DELETE FROM \w+ WHERE |SELECT 1$|INSERT INTO |CREATE INDEX |` +
		`ALTER TABLE \w+\s+(DROP (COLUMN|CONSTRAINT)|ADD CONSTRAINT|RESET|ALTER COLUMN \w+ (SET|DROP) (DEFAULT|NOT NULL)))`)
	bodies = regexp.MustCompile(`(?s)-- \+goose StatementBegin.*?-- \+goose StatementEnd`)
	remark = regexp.MustCompile(`--[^\n]*`)
)

func TestMigrationsAreUndoneByKnownStatements(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(os.DirFS("."), file)
		fatal.If(t, err)
		_, undo, _ := strings.Cut(string(text), "-- +goose Down\n")
		for statement := range strings.SplitSeq(remark.ReplaceAllString(bodies.ReplaceAllString(undo, ""), ""), ";") {
			if statement = strings.TrimSpace(statement); statement != "" && !undoes.MatchString(statement) {
				t.Errorf("%s is undone by %q: losses of migrate down are not read from such", file, statement)
			}
		}
	}
}
