package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// usualNames are constants that are not named like the option, because others use them too.
var usualNames = map[string]string{"Bytes": "MaxBody"}

// What is taken where an option is zero has the name of the option: cmp.Or(o.Rows, maxRows).
func TestTheUsualValueOfAnOptionHasItsName(t *testing.T) {
	t.Parallel()
	found := 0
	fatal.If(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "node_modules") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		fatal.If(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			option, usual := usualValue(node)
			if usual == "" {
				return true
			}
			found++
			bare := strings.NewReplacer("most", "", "max", "", "default", "")
			if usual != usualNames[option] && !strings.HasSuffix(bare.Replace(strings.ToLower(usual)), bare.Replace(strings.ToLower(option))) {
				t.Errorf("%s: %s is usually %s", path, option, usual)
			}
			return true
		})
		return nil
	}))
	if found < 8 {
		t.Errorf("only %d options were found", found)
	}
}

// usualValue returns the names of an option and of the constant that is taken where it is
// zero; "" for other code.
func usualValue(node ast.Node) (option, usual string) {
	call, is := node.(*ast.CallExpr)
	if !is || len(call.Args) != 2 {
		return "", ""
	}
	of, isSelector := call.Fun.(*ast.SelectorExpr)
	field, isField := call.Args[0].(*ast.SelectorExpr)
	if !isSelector || !isField || of.Sel.Name != "Or" {
		return "", ""
	}
	switch value := call.Args[1].(type) {
	case *ast.Ident:
		usual = value.Name
	case *ast.SelectorExpr:
		usual = value.Sel.Name
	}
	if lower := strings.ToLower(usual); !strings.HasPrefix(lower, "max") && !strings.HasPrefix(lower, "most") && !strings.HasPrefix(lower, "default") && !strings.EqualFold(usual, field.Sel.Name) {
		return "", ""
	}
	return field.Sel.Name, usual
}
