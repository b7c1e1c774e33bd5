package db_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// The table "What grows" of the documents has each table of the catalogue once, and says
// truly which are kept and which lose rows.
func TestWhatGrowsIsDocumented(t *testing.T) {
	dbtest.WithoutCitus(t, "the catalogue has shards too")
	t.Parallel()
	pool := dbtest.New(t)
	text, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	fatal.If(t, err)
	var tables []string
	fatal.If(t, pool.SelectContext(t.Context(), &tables, tablesOfCatalogue))
	for _, fault := range growthFaults(string(text), tables, losesRows(t, pool)) {
		t.Error(fault)
	}
}

const (
	tablesOfCatalogue = `
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`
	// cascades are the tables of which rows go with rows of another.
	cascades = `
SELECT conrelid::regclass::text AS of, confrelid::regclass::text AS with FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'c'`
	partitionedTables = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'p'`
)

var (
	deletesRows = regexp.MustCompile(`DELETE FROM (\w+)`)
	growthLine  = regexp.MustCompile("(?m)^\\| ((?:`\\w+`(?:, )?)+) \\| [^|]+ \\| (\\w+)([^|]*) \\|$")
	quotedName  = regexp.MustCompile("`(\\w+)`")
)

// losesRows returns the tables that lose rows: by a statement of the sources, with rows
// of another table, or as partitions that are dropped.
func losesRows(t *testing.T, pool *sqlx.DB) map[string]bool {
	t.Helper()
	lose := map[string]bool{}
	for _, path := range sourcesOfStores(t) {
		text, err := os.ReadFile(path)
		fatal.If(t, err)
		for _, of := range deletesRows.FindAllStringSubmatch(string(text), -1) {
			lose[of[1]] = true
		}
	}
	var partitioned []string
	fatal.If(t, pool.SelectContext(t.Context(), &partitioned, partitionedTables))
	for _, table := range partitioned {
		lose[table] = true
	}
	var with []struct{ Of, With string }
	fatal.If(t, pool.SelectContext(t.Context(), &with, cascades))
	for range with { // a chain of them is no longer
		for _, pair := range with {
			lose[pair.Of] = lose[pair.Of] || lose[pair.With]
		}
	}
	return lose
}

// growthFaults returns what is wrong with the lines of the table. A total that is kept
// may lose rows where it is derived again.
func growthFaults(document string, tables []string, lose map[string]bool) (faults []string) {
	said := map[string]int{}
	_, section, _ := strings.Cut(document, "\n### What grows\n")
	section, _, _ = strings.Cut(section, "\n#")
	for _, line := range growthLine.FindAllStringSubmatch(section, -1) {
		for _, name := range quotedName.FindAllStringSubmatch(line[1], -1) {
			said[name[1]]++
			switch {
			case !slices.Contains(tables, name[1]):
				faults = append(faults, name[1]+" is no table")
			case line[2] == "removed" && !lose[name[1]]:
				faults = append(faults, "nothing removes rows of "+name[1])
			case line[2] == "kept" && lose[name[1]] && !strings.Contains(line[3], "derived again"):
				faults = append(faults, name[1]+" is said to be kept, but loses rows")
			case line[2] != "removed" && line[2] != "kept":
				faults = append(faults, name[1]+" is neither kept nor removed")
			}
		}
	}
	for _, table := range tables {
		if said[table] != 1 {
			faults = append(faults, table+" does not stand in the table once")
		}
	}
	return faults
}

func TestTheRulesOfGrowthFindPlantedFaults(t *testing.T) {
	t.Parallel()
	const head = "\n### What grows\n\n| tables | a row for each | how it is bounded |\n|---|---|---|\n"
	lose := map[string]bool{"mails": true, "ip_days": true}
	for lines, want := range map[string]string{
		"| `mails` | mail | removed after a while |\n| `ip_days` | day | kept: derived again |\n| `users` | user | kept |\n": "",
		"| `mails`, `ip_days` | mail | removed |\n":                                                  "users does not stand in the table once",
		"| `mails`, `ip_days` | mail | removed |\n| `users` | user | removed |\n":                    "nothing removes rows of users",
		"| `mails` | mail | kept |\n| `users` | user | kept |\n| `ip_days` | day | removed |\n":      "mails is said to be kept, but loses rows",
		"| `mails`, `ip_days` | mail | removed |\n| `users` | user | bounded |\n":                    "users is neither kept nor removed",
		"| `mails`, `ip_days` | mail | removed |\n| `users`, `others` | user | kept |\n":             "others is no table",
		"| `mails`, `ip_days`, `users` | mail | removed |\n| `users` | user | kept |\n### Another\n": "nothing removes rows of users,users does not stand in the table once",
	} {
		if found := strings.Join(growthFaults(head+lines, []string{"mails", "ip_days", "users"}, lose), ","); found != want {
			t.Errorf("%s\n%q, want %q", lines, found, want)
		}
	}
}
