package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// The root file has a map of the functions that read inputs made for each operation, which is
// empty as long as nothing generated reads inputs by it.
func TestOperationsBeginWithoutAMapOfInputs(t *testing.T) {
	files, err := filepath.Glob("../../generated/*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string][]int{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if callee, ok := call.Fun.(*ast.SelectorExpr); ok {
					calls[callee.Sel.Name] = append(calls[callee.Sel.Name], len(call.Args))
				}
			}
			return true
		})
	}
	if built := calls["BuildUnmarshalerMap"]; len(built) != 1 || built[0] != 0 {
		t.Errorf("BuildUnmarshalerMap is called with %v arguments, want once with none", built)
	}
	if read := calls["UnmarshalInputFromContext"]; len(read) > 0 {
		t.Errorf("UnmarshalInputFromContext is called %d times: the map that it reads is empty", len(read))
	}
}
