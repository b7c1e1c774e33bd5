package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// foldsOfUnicode are where texts are folded otherwise than by domain/ascii, and why that
// makes no two texts equal that a rule keeps apart.
var foldsOfUnicode = map[string]string{
	"db/keyset/filter.go: ILIKE":                     "searches, for people; what it finds stays under the rules of who may see it",
	"internal/mail/round.go: (?i)":                   "takes the address of a recipient out of an error, in any writing",
	"db/pg/open.go: unicode.ToLower":                 "names of Go fields become those of columns",
	"graph/lists/lists.go: unicode.ToUpper":          "names of fields become those of the schema's enums",
	"graph/plan/generator/lists.go: strings.ToLower": "names the folder of a Go type",
	"rest/gather.go: strings.ToLower":                "names a type of the schema in an error",
}

// folds are the functions of the standard library and of x/text that make texts equal by
// the tables of Unicode.
var folds = map[string]bool{
	"strings.ToLower": true, "strings.ToUpper": true, "strings.ToTitle": true, "strings.Title": true, "strings.EqualFold": true,
	"strings.ToLowerSpecial": true, "strings.ToUpperSpecial": true, "strings.ToTitleSpecial": true,
	"bytes.ToLower": true, "bytes.ToUpper": true, "bytes.ToTitle": true, "bytes.Title": true, "bytes.EqualFold": true,
	"unicode.ToLower": true, "unicode.ToUpper": true, "unicode.ToTitle": true, "unicode.SimpleFold": true,
	"cases.Fold": true, "cases.Lower": true, "cases.Upper": true, "cases.Title": true,
}

// foldsOfSQL finds folds in statements; (?i) folds in regular expressions of Go.
var foldsOfSQL = regexp.MustCompile(`(?i:\b(lower|upper|initcap)\(|\b(ILIKE|citext)\b)|\(\?[a-z]*i[a-z]*[):]|~~?\*`)

func TestTextsThatAreComparedAreFoldedInASCIIAlone(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, path := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		for _, fold := range foldsIn(file) {
			found[filepath.ToSlash(path)+": "+fold] = true
		}
	}
	for place := range found {
		if foldsOfUnicode[place] == "" {
			t.Errorf("%s: fold by domain/ascii what is compared, and check e-mail addresses by domain.ParseEmail", place)
		}
	}
	for place := range foldsOfUnicode {
		if !found[place] {
			t.Errorf("%s is not there", place)
		}
	}
}

// sources are the files of Go that people have written, tests aside.
func sources(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (path == "graph/generated" || entry.Name() == "node_modules" || entry.Name() == "testdata" || path != "." && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil || len(paths) < 300 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	return paths
}

func foldsIn(file *ast.File) (found []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if of, is := node.X.(*ast.Ident); is && folds[of.Name+"."+node.Sel.Name] {
				found = append(found, of.Name+"."+node.Sel.Name)
			}
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				if match := foldsOfSQL.FindString(node.Value); match != "" {
					found = append(found, match)
				}
			}
		}
		return true
	})
	return found
}
