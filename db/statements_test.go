package db_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// PostgreSQL prepares every statement of the stores that stands in a constant.
func TestEveryStatementCanBePrepared(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	statements := constantStatements(t)
	if len(statements) < 50 {
		t.Fatalf("only %d statements were found", len(statements))
	}
	for name, sql := range statements {
		if _, err := pool.ExecContext(t.Context(), fmt.Sprintf("PREPARE %s AS %s", strings.ToLower("test_"+name), sql)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var (
	beginsStatement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	hasGap          = regexp.MustCompile(`\{\w|%[a-z]`)
)

// Work that derives totals from the ledger keeps months from being detached, by a
// statement that reads nothing.
func TestAReadOfNothingLocksTheLedger(t *testing.T) {
	dbtest.WithoutCitus(t, "locks of PostgreSQL")
	t.Parallel()
	pool := dbtest.New(t)
	touch := constantStatements(t)["touchLedger"]
	for range 8 { // from the sixth execution on the plan is kept
		tx := pool.MustBeginTx(t.Context(), nil)
		tx.MustExecContext(t.Context(), touch, 1)
		_, err := pool.ExecContext(t.Context(), `DO $$ BEGIN LOCK TABLE usage_records IN ACCESS EXCLUSIVE MODE NOWAIT; END $$`)
		if pq.As(err, pqerror.LockNotAvailable) == nil {
			t.Errorf("the ledger is locked by nobody: %v", err)
		}
		fatal.If(t, tx.Rollback())
	}
}

// statement is one of the stores' sources.
type statement struct {
	of  name
	sql string
}

// readStatements evaluates the constants of the stores' sources that read like whole
// statements, ordered by folder and name.
func readStatements(t *testing.T) (constants, []statement) {
	t.Helper()
	all := constants{}
	pieces := map[name]bool{}
	for _, path := range sourcesOfStores(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		folder := filepath.Dir(path)
		all.read(folder, file)
		imports := storesOf(file)
		ast.Inspect(file, func(node ast.Node) bool { return notePieces(node, folder, imports, pieces) })
	}
	var statements []statement
	byFolder := func(a, b name) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name)) }
	for _, of := range slices.SortedFunc(maps.Keys(all), byFolder) {
		// What has a gap to fill, or is put together with more, is no statement yet.
		sql, ok := all.text(of)
		if ok && beginsStatement.MatchString(sql) && !hasGap.MatchString(sql) && !pieces[of] {
			statements = append(statements, statement{of, sql})
		}
	}
	return all, statements
}

// constantStatements has the statements of readStatements by their names.
func constantStatements(t *testing.T) map[string]string {
	t.Helper()
	_, all := readStatements(t)
	statements := map[string]string{}
	for _, s := range all {
		key := s.of.name
		if other, taken := statements[key]; taken && other != s.sql {
			key += "_of_" + filepath.Base(s.of.folder)
		}
		statements[key] = s.sql
	}
	return statements
}

// storeless are the folders without statements of stores: they start and serve
// databases of tests, and run what Citus alone understands.
var storeless = []string{"cluster", "dbtest", "embedded", "fleettest", "migrations", "restoring"}

// sourcesOfStores are the files of the packages that hold statements.
func sourcesOfStores(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(storeless, path):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			paths = append(paths, path)
		}
		return nil
	})
	fatal.If(t, err)
	return paths
}

// notePieces notes the names that become part of other texts: by +, or as a
// field of a table of pieces.
func notePieces(node ast.Node, folder string, imports map[string]string, pieces map[name]bool) bool {
	var parts []ast.Expr
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if node.Op == token.ADD {
			parts = []ast.Expr{node.X, node.Y}
		}
	case *ast.KeyValueExpr:
		parts = []ast.Expr{node.Value}
	}
	for _, part := range parts {
		switch part := part.(type) {
		case *ast.Ident:
			pieces[name{folder, part.Name}] = true
		case *ast.SelectorExpr:
			if of, isName := part.X.(*ast.Ident); isName {
				pieces[name{imports[of.Name], part.Sel.Name}] = true
			}
		}
	}
	return true
}

// nameOf is that of a constant, of this package or another.
func nameOf(expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name, true
	case *ast.SelectorExpr:
		return expr.Sel.Name, true
	}
	return "", false
}

// name is that of a constant in the package of a folder.
type name struct{ folder, name string }

// constant is one with what storesOf has of its file.
type constant struct {
	value   ast.Expr
	imports map[string]string
}

// constants are the top-level constants of the stores.
type constants map[name]constant

// storesOf are the folders of the stores that a file imports, by their names there.
func storesOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, of := range file.Imports {
		path, _ := strconv.Unquote(of.Path.Value)
		path, isStore := strings.CutPrefix(path, "simgraph/db/")
		if of.Name != nil && isStore {
			imports[of.Name.Name] = path
		} else if isStore {
			imports[filepath.Base(path)] = path
		}
	}
	return imports
}

func (c constants) read(folder string, file *ast.File) {
	imports := storesOf(file)
	for _, decl := range file.Decls {
		group, isGroup := decl.(*ast.GenDecl)
		if !isGroup || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			if value := spec.(*ast.ValueSpec); len(value.Values) == 1 {
				c[name{folder, value.Names[0].Name}] = constant{value.Values[0], imports}
			}
		}
	}
}

// text evaluates a constant; false for what is no text.
func (c constants) text(of name) (string, bool) {
	found, known := c[of]
	if !known {
		return "", false
	}
	return c.value(of.folder, found.imports, found.value)
}

func (c constants) value(folder string, imports map[string]string, expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.Ident:
		return c.text(name{folder, expr.Name})
	case *ast.SelectorExpr:
		of, isName := expr.X.(*ast.Ident)
		if !isName {
			return "", false
		}
		return c.text(name{imports[of.Name], expr.Sel.Name})
	case *ast.BinaryExpr:
		left, leftIs := c.value(folder, imports, expr.X)
		right, rightIs := c.value(folder, imports, expr.Y)
		return left + right, leftIs && rightIs && expr.Op == token.ADD
	}
	return "", false
}

// Entries of the audit log are added and pruned, and never changed.
func TestNoStatementChangesTheAuditLog(t *testing.T) {
	t.Parallel()
	for name, sql := range constantStatements(t) {
		if strings.Contains(sql, "UPDATE audit_log") || strings.Contains(sql, "DELETE FROM audit_log") && name != "pruneAudit" {
			t.Errorf("%s changes entries", name)
		}
	}
}
