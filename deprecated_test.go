package main

import (
	"cmp"
	goast "go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"

	"simgraph/graph/generated"
	"simgraph/internal/fatal"
)

// What exists for the REST paths alone is deprecated, with the better field, so that one
// who begins meets one way.
func TestWhatExistsForRESTIsDeprecated(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	deprecated := 0
	for _, field := range schema.Query.Fields {
		of := field.Directives.ForName("deprecated")
		if of == nil {
			if name := field.Type.Name(); strings.HasSuffix(name, "List") || strings.HasPrefix(name, "DataUsageBy") || name == "SessionCount" {
				t.Errorf("Query.%s is not deprecated", field.Name)
			}
			continue
		}
		deprecated++
		if reason := of.Arguments.ForName("reason"); reason == nil || !strings.Contains(reason.Value.Raw, "use ") {
			t.Errorf("Query.%s does not say what to use", field.Name)
		}
	}
	if deprecated < 10 {
		t.Errorf("%d root fields are deprecated", deprecated)
	}
}

var (
	// texts of the page that may be documents: between backquotes, or within a line.
	pageTexts = regexp.MustCompile("`([^`]*)`|'([^'\n]*)'")
	isPageDoc = regexp.MustCompile(`^\s*(query|mutation|subscription|fragment)\b[^{]*\{`)
	// pageConst is a text that documents hold by its name, in its own file or in others.
	pageConst = regexp.MustCompile("(?m)^(export )?const (\\w+) = (?:'([^'\n]*)'|`([^`]*)`);")
	pageHole  = regexp.MustCompile(`\$\{(\w+)\}`)
)

// The page builds each document of its own text and of the fragments that it names.
func TestThePageAsksForWhatIsThereAndNotDeprecated(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	documents := pageDocuments(t)
	fragments := fragmentsOf(t, documents)
	fields, spread := 0, map[string]bool{}
	for _, of := range documents {
		document := parsed(t, of)
		if len(document.Operations) == 0 {
			continue
		}
		complete(document, fragments, spread)
		for _, err := range validator.ValidateWithRules(schema, document, nil) {
			t.Errorf("%s: %v", of.Name, err)
		}
		observers := &core.Events{}
		observers.OnField(func(_ *core.Walker, field *ast.Field) {
			fields++
			if field.Definition != nil && field.Definition.Directives.ForName("deprecated") != nil {
				t.Errorf("%s: %s is deprecated", of.Name, field.Name)
			}
		})
		core.Walk(schema, document, observers)
	}
	for name := range fragments {
		if !spread[name] {
			t.Errorf("no operation of the page has the fragment %s", name)
		}
	}
	if fields < 500 {
		t.Errorf("only %d fields were found", fields)
	}
}

// otherDocuments are sources whose documents are of other schemas, are refused on purpose, or
// have places to fill; and what a build writes of documents that it has checked.
var otherDocuments = []string{
	"graph/", "rest/", "web/", "clients/typescript/dist/", "resolvers/usage_maps_test.go", "db/document/store_test.go", "trusted_test.go", "test/e2e/http.test.js", "test/e2e/sse.test.js", "test/e2e/websocket.test.js",
}

// A test of what the server refuses, or hides, proves nothing by a document that the schema
// refuses. Documents that begin with their kind are read; what is put together is left out.
func TestDocumentsOfProgramsAndTestsAreValid(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	found := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != ".") {
			return cmp.Or(err, filepath.SkipDir)
		}
		if slices.ContainsFunc(otherDocuments, func(other string) bool { return strings.HasPrefix(filepath.ToSlash(path), other) }) {
			return nil
		}
		for _, text := range textsIn(t, path) {
			document, err := parser.ParseQuery(&ast.Source{Name: path, Input: text})
			if err != nil || !isPageDoc.MatchString(text) {
				continue
			}
			found[filepath.Ext(path)]++
			for _, err := range validator.ValidateWithRules(schema, document, nil) {
				t.Errorf("%s: %v in %s", path, err, text)
			}
		}
		return nil
	})
	if err != nil || found[".go"] < 100 || found[".js"] < 50 {
		t.Errorf("%v: found %v", err, found)
	}
}

// textsIn are the literal texts of a source in Go or JavaScript.
func textsIn(t *testing.T, path string) (texts []string) {
	t.Helper()
	switch filepath.Ext(path) {
	case ".go":
		file, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		goast.Inspect(file, func(node goast.Node) bool {
			if literal, is := node.(*goast.BasicLit); is && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value) // the parser has read it
				texts = append(texts, text)
			}
			return true
		})
	case ".js":
		for _, match := range pageTexts.FindAllStringSubmatch(manual(t, path), -1) {
			texts = append(texts, match[1]+match[2])
		}
	}
	return texts
}

func parsed(t *testing.T, of *ast.Source) *ast.QueryDocument {
	t.Helper()
	document, err := parser.ParseQuery(of)
	if err != nil {
		t.Fatalf("%s: %v", of.Name, err)
	}
	return document
}

func fragmentsOf(t *testing.T, documents []*ast.Source) map[string]*ast.FragmentDefinition {
	t.Helper()
	found := map[string]*ast.FragmentDefinition{}
	for _, of := range documents {
		for _, fragment := range parsed(t, of).Fragments {
			found[fragment.Name] = fragment
		}
	}
	return found
}

// spreadName is how a selection names a fragment.
var spreadName = regexp.MustCompile(`\.\.\.\s*(\w+)`)

// complete adds the fragments that the document names, and those that they name.
func complete(document *ast.QueryDocument, fragments map[string]*ast.FragmentDefinition, spread map[string]bool) {
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(document)
	for _, match := range spreadName.FindAllStringSubmatch(text.String(), -1) {
		fragment := fragments[match[1]]
		if fragment == nil || document.Fragments.ForName(fragment.Name) != nil {
			continue
		}
		spread[fragment.Name] = true
		document.Fragments = append(document.Fragments, fragment)
		complete(document, fragments, spread)
	}
}

// pageDocuments are the documents of the page, without the fragments of others.
func pageDocuments(t *testing.T) []*ast.Source {
	t.Helper()
	sources, named := map[string]string{}, map[string]string{}
	err := filepath.WalkDir("web/app", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".test.ts") ||
			!strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return err
		}
		content, err := os.ReadFile(path)
		sources[path] = string(content)
		for _, match := range pageConst.FindAllStringSubmatch(string(content), -1) {
			if text := match[3] + match[4]; match[1] == "" {
				named[path+match[2]] = text
			} else {
				named[match[2]] = text
			}
		}
		return err
	})
	fatal.If(t, err)
	var found []*ast.Source
	for path, content := range sources {
		for _, match := range pageTexts.FindAllStringSubmatch(content, -1) {
			if text := match[1] + match[2]; isPageDoc.MatchString(text) {
				found = append(found, &ast.Source{Name: path, Input: pageHole.ReplaceAllStringFunc(text, func(hole string) string {
					name := hole[2 : len(hole)-1]
					return cmp.Or(named[path+name], named[name])
				})})
			}
		}
	}
	return found
}
