package security

import (
	"fmt"
	"strings"
	"testing"
)

const companyTables = `
SELECT c.relname
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'company_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY c.relname`

// dump is every row of the part's company, but for another group of the same
// company only what is the group's: the rest is the caller's own.
func (w *world) dump(t *testing.T, p part) string {
	t.Helper()
	if p.company != own.company {
		return w.rows(t, p.company, nil)
	}
	return w.rows(t, p.company, p.owns)
}

// rows are those of a company, by table, that are wanted; nil wants all.
func (w *world) rows(t *testing.T, externalID string, wanted func(table, row string) bool) string {
	t.Helper()
	var tables []string
	if err := w.pool.SelectContext(t.Context(), &tables, companyTables); err != nil {
		t.Fatal(err)
	}
	company := w.company(t, externalID)
	var b strings.Builder
	for _, table := range tables {
		var rows []string
		if err := w.pool.SelectContext(t.Context(), &rows, "SELECT t::text FROM "+table+" t WHERE company_id = $1 ORDER BY 1", company); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if wanted == nil || wanted(table, row) {
				fmt.Fprintln(&b, table, row)
			}
		}
	}
	if b.Len() == 0 {
		t.Fatal("nothing to compare")
	}
	return b.String()
}

// owns reports whether a row is the part's: it has one of its marks.
func (p part) owns(table, row string) bool {
	for _, mark := range p.marks() {
		if strings.Contains(row, strings.TrimSuffix(mark, `"`)) && !strings.Contains(row, own.physicalID(1)) {
			return table == "subscribers" || table == "groups" || table == "alert_thresholds" || table == "alert_recipients" || table == "users"
		}
	}
	return false
}

func difference(before, after string) string {
	known := map[string]int{}
	for line := range strings.Lines(before) {
		known[line]++
	}
	var b strings.Builder
	for line := range strings.Lines(after) {
		if known[line]--; known[line] < 0 {
			b.WriteString("+ " + line)
		}
	}
	for line, n := range known {
		if n > 0 {
			b.WriteString("- " + line)
		}
	}
	return b.String()
}
