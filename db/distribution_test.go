package db_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

var (
	distributes = regexp.MustCompile(`(?m)^SELECT simgraph_distribute\('(\w+)'\);`)
	references  = regexp.MustCompile(`(?m)^SELECT simgraph_reference\('(\w+)'\);`)
)

const (
	tablesOfCompanies = `
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ` + sharedTables
	tablesOfAll = `
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname IN ` + sharedTables + ` AND relname <> 'goose_db_version'`
)

// Migrations hand every table to Citus, whether it is there or not.
func TestEveryTableIsDistributedOrShared(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	text := migrationTexts(t)
	for query, handsOver := range map[string]*regexp.Regexp{tablesOfCompanies: distributes, tablesOfAll: references} {
		var tables []string
		fatal.If(t, pool.SelectContext(t.Context(), &tables, query))
		var handed []string
		for _, match := range handsOver.FindAllStringSubmatch(text, -1) {
			handed = append(handed, match[1])
		}
		for _, table := range tables {
			if !slices.Contains(handed, table) {
				t.Errorf("no migration hands over %s by %s", table, handsOver)
			}
		}
	}
}

func migrationTexts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		fatal.If(t, err)
		all.Write(text)
	}
	return all.String()
}

func TestDistributionDoesNothingWithoutCitus(t *testing.T) {
	dbtest.WithoutCitus(t, "a database without Citus")
	t.Parallel()
	pool := dbtest.New(t)
	for _, function := range []string{"simgraph_distribute", "simgraph_reference"} {
		if _, err := pool.ExecContext(t.Context(), "SELECT "+function+"('no_such_table')"); err != nil {
			t.Errorf("%s: %v", function, err)
		}
	}
}
