package db_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

var update = flag.Bool("update", false, "write testdata/statements.sql")

// The statements that are put together of several constants stand as they are sent in
// testdata/statements.sql: a change of one piece shows in all of them.
func TestTheFileOfStatementsIsThatOfTheStores(t *testing.T) {
	t.Parallel()
	all, statements := readStatements(t)
	var text bytes.Buffer
	text.WriteString("-- The statements of the stores that are put together of several constants.\n-- Written by: go test ./db -run TheFileOfStatements -update\n")
	written := 0
	for _, s := range statements {
		if _, isLiteral := all[s.of].value.(*ast.BasicLit); isLiteral {
			continue
		}
		written++
		fmt.Fprintf(&text, "\n-- %s: %s\n%s;\n", filepath.Join("db", s.of.folder), s.of.name, strings.TrimSpace(s.sql))
	}
	if written < 50 {
		t.Fatalf("only %d statements were found", written)
	}
	const path = "testdata/statements.sql"
	if *update {
		fatal.If(t, os.WriteFile(path, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	fatal.If(t, err)
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s is stale: write it by go test ./db -run TheFileOfStatements -update, and read the difference", path)
	}
}
