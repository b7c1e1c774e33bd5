package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// untested are the packages with functions and without a test in their folder, each with its reason.
var untested = map[string]string{
	"graph/engine/transport/internal/testschema": "resolvers that the tests of graph/engine/transport ask",
	"internal/stores": "only calls constructors: the tests of internal/command and test/security run the service on them",
}

// A package whose functions have bodies has a test in its folder. Programs are run by the tests of those that they serve.
func TestEveryPackageHasTestsBesideIt(t *testing.T) {
	t.Parallel()
	hasCode := map[string]bool{}
	for _, path := range sources(t) {
		file := parsed(t, path)
		if !ast.IsGenerated(file) && file.Name.Name != "main" && slices.ContainsFunc(functions(file), doesSomething) {
			hasCode[filepath.ToSlash(filepath.Dir(path))] = true
		}
	}
	for folder := range hasCode {
		files, err := filepath.Glob(folder + "/*_test.go")
		fatal.If(t, err)
		hasTest := slices.ContainsFunc(files, func(path string) bool { return slices.ContainsFunc(functions(parsed(t, path)), isTest) })
		if reason := untested[folder]; hasTest == (reason != "") {
			t.Errorf("%s has a test in its folder: %v; the reason to have none is %q", folder, hasTest, reason)
		}
	}
	for folder := range untested {
		if !hasCode[folder] {
			t.Errorf("%s has no functions, and needs no reason", folder)
		}
	}
	if len(hasCode) < 90 {
		t.Errorf("only %d packages have functions", len(hasCode))
	}
}

func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	fatal.If(t, err)
	return file
}

func functions(file *ast.File) (all []*ast.FuncDecl) {
	for _, d := range file.Decls {
		if function, is := d.(*ast.FuncDecl); is {
			all = append(all, function)
		}
	}
	return all
}

func doesSomething(f *ast.FuncDecl) bool { return f.Body != nil && len(f.Body.List) > 0 }

func isTest(f *ast.FuncDecl) bool {
	name := f.Name.Name
	return f.Recv == nil && name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"))
}
