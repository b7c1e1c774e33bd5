package db_test

import (
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

// constantStatements evaluates the constants of the stores' sources that read
// like whole statements.
func constantStatements(t *testing.T) map[string]string {
	t.Helper()
	texts, own := constants{}, map[string]constants{}
	pieces := map[string]bool{}
	for _, path := range sourcesOfStores(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		folder := filepath.Base(filepath.Dir(path))
		if own[folder] == nil {
			own[folder] = constants{}
		}
		own[folder].read(file)
		texts.read(file)
		ast.Inspect(file, func(node ast.Node) bool { return notePieces(node, pieces) })
	}
	statements := map[string]string{}
	for _, folder := range slices.Sorted(maps.Keys(own)) {
		seen := maps.Clone(texts)
		maps.Copy(seen, own[folder])
		for name, expr := range own[folder] {
			// What has a gap to fill, or is put together with more, is no statement yet.
			sql, ok := seen.value(expr)
			if !ok || !beginsStatement.MatchString(sql) || hasGap.MatchString(sql) || pieces[name] {
				continue
			}
			if other, taken := statements[name]; taken && other != sql {
				name += "_of_" + folder
			}
			statements[name] = sql
		}
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
func notePieces(node ast.Node, pieces map[string]bool) bool {
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
		if name, isName := nameOf(part); isName {
			pieces[name] = true
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

// constants are the top-level constants of the stores by name.
type constants map[string]ast.Expr

func (c constants) read(file *ast.File) {
	for _, decl := range file.Decls {
		group, isGroup := decl.(*ast.GenDecl)
		if !isGroup || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			if value := spec.(*ast.ValueSpec); len(value.Values) == 1 {
				c[value.Names[0].Name] = value.Values[0]
			}
		}
	}
}

// value evaluates a text; false for what is none.
func (c constants) value(expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.Ident, *ast.SelectorExpr:
		name, _ := nameOf(expr)
		of, known := c[name]
		if !known {
			return "", false
		}
		return c.value(of)
	case *ast.BinaryExpr:
		left, leftIs := c.value(expr.X)
		right, rightIs := c.value(expr.Y)
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
