package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// TestEveryFuzzTargetRunsEveryNight compares the targets that make fuzz runs with the functions
// that the testing package takes for targets, and holds what was found to a target.
func TestEveryFuzzTargetRunsEveryNight(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	fatal.If(t, err)
	list := exec.CommandContext(t.Context(), "sh", "scripts/fuzz.sh", "list")
	list.Stderr = os.Stderr
	text, err := list.Output()
	fatal.If(t, err)
	run := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(run)
	targets := fuzzTargets(t, root)
	if !slices.Equal(run, targets) || len(targets) < 30 {
		t.Errorf("make fuzz runs\n%s\nand there are\n%s", strings.Join(run, "\n"), strings.Join(targets, "\n"))
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil || !regexp.MustCompile(`(?m)^fuzz:.*\n\t\./scripts/fuzz\.sh$`).Match(makefile) {
		t.Errorf("make fuzz does not run scripts/fuzz.sh: %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(root, "*", "testdata", "fuzz", "*"))
	fatal.If(t, err)
	deeper, err := filepath.Glob(filepath.Join(root, "*", "*", "testdata", "fuzz", "*"))
	fatal.If(t, err)
	for _, corpus := range append(kept, deeper...) {
		folder, _, _ := strings.Cut(corpus, "/testdata/")
		if !slices.Contains(targets, folder+" "+filepath.Base(corpus)) {
			t.Errorf("no target reads %s", corpus)
		}
	}
}

// fuzzTargets are the functions of tests that are fuzz targets, each after its folder.
func fuzzTargets(t *testing.T, root string) (targets []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || path != root && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if is && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Fuzz") && mentions(function.Type, "testing.F") {
				targets = append(targets, filepath.Dir(path)+" "+function.Name.Name)
			}
		}
		return nil
	})
	fatal.If(t, err)
	slices.Sort(targets)
	return targets
}
