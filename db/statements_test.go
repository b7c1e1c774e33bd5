package db_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"simgraph/db/dbtest"
)

// PostgreSQL prepares every statement that stands in the package as a constant.
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

var beginsStatement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)

// constantStatements evaluates the constants of the package's sources that read
// like whole statements.
func constantStatements(t *testing.T) map[string]string {
	t.Helper()
	texts := constants{}
	pieces := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		texts.read(file)
		ast.Inspect(file, func(node ast.Node) bool { return notePieces(node, pieces) })
	}
	statements := map[string]string{}
	for name, expr := range texts {
		// What has a gap to fill, or is put together with more, is no statement yet.
		sql, ok := texts.value(expr)
		if ok && beginsStatement.MatchString(sql) && !strings.ContainsAny(sql, "{%") && !pieces[name] {
			statements[name] = sql
		}
	}
	return statements
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
		if name, isName := part.(*ast.Ident); isName {
			pieces[name.Name] = true
		}
	}
	return true
}

// constants are the top-level constants of the package by name.
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
	case *ast.Ident:
		of, known := c[expr.Name]
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
