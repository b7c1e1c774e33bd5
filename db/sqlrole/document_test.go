package sqlrole_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

var update = flag.Bool("update", false, "write the views of the catalogue into docs/analysts.md")

const (
	viewsBegin = "<!-- The views are written by go test ./db/sqlrole -run TheDocument -update -->\n"
	viewsEnd   = "<!-- end of the views -->\n"
)

// The columns are a contract: a view that differs from what is documented fails here.
func TestTheDocumentHasTheViewsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var columns []struct{ View, ViewComment, Name, Type, Comment string }
	fatal.If(t, f.pool.Unsafe().Select(&columns, `
SELECT c.relname AS view, coalesce(obj_description(c.oid), '') AS view_comment, a.attname AS name,
  format_type(a.atttypid, NULL) AS type, coalesce(col_description(c.oid, a.attnum), '') AS comment
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relnamespace = 'analyst'::regnamespace
ORDER BY c.oid, a.attnum`))
	var want strings.Builder
	view := ""
	for _, c := range columns {
		if c.Comment == "" || c.ViewComment == "" {
			t.Errorf("%s.%s has no comment", c.View, c.Name)
		}
		if c.View != view {
			view = c.View
			fmt.Fprintf(&want, "\n### %s\n\n%s\n\n| column | type | is |\n|---|---|---|\n", view, c.ViewComment)
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s |\n", c.Name, c.Type, c.Comment)
	}
	want.WriteString("\n")
	name := filepath.Join("..", "..", "docs", "analysts.md")
	text, err := os.ReadFile(name)
	fatal.If(t, err)
	before, rest, _ := strings.Cut(string(text), viewsBegin)
	shown, after, found := strings.Cut(rest, viewsEnd)
	switch {
	case !found:
		t.Fatalf("%s has no place for the views", name)
	case *update:
		fatal.If(t, os.WriteFile(name, []byte(before+viewsBegin+want.String()+viewsEnd+after), 0o644))
	case shown != want.String():
		t.Errorf("%s differs from the views: run go test ./db/sqlrole -run TheDocument -update", name)
	}
}
