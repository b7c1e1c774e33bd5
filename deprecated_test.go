package main

import (
	"cmp"
	goast "go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"

	"simgraph/graph/engine/transport"
	"simgraph/graph/generated"
	"simgraph/internal/document"
	"simgraph/internal/fatal"
	"simgraph/web"
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
)

// editorTexts are sources of the page with texts that people send by the editor or by programs.
var editorTexts = []string{"web/app/explore/examples.ts", "web/app/sources/commands.ts"}

// pageDocuments are the operations of the page by their names, with their fragments: those
// that ship as trusted documents, and the texts that it shows.
func pageDocuments(t *testing.T) []*ast.Source {
	t.Helper()
	manifest, err := web.Operations()
	fatal.If(t, err)
	shipped, err := document.ReadManifest(manifest)
	fatal.If(t, err)
	var found []*ast.Source
	for _, one := range shipped {
		name, _, _ := strings.Cut(strings.TrimSpace(one.Text), "{")
		found = append(found, &ast.Source{Name: name, Input: one.Text})
	}
	for _, path := range editorTexts {
		for _, match := range pageTexts.FindAllStringSubmatch(manual(t, path), -1) {
			if text := match[1] + match[2]; isPageDoc.MatchString(text) {
				found = append(found, &ast.Source{Name: path, Input: text})
			}
		}
	}
	return found
}

// What ships is read as what clients send: no change of the schema, and no limit, breaks the page.
func TestThePageAsksForWhatIsThereAndNotDeprecated(t *testing.T) {
	t.Parallel()
	executable := generated.NewExecutableSchema(generated.Config{})
	engine := transport.New(executable, transport.Config{})
	documents, fields := pageDocuments(t), 0
	for _, of := range documents {
		if _, err := engine.Inspect(of.Input); err != nil {
			t.Errorf("%s: %v", of.Name, err)
			continue
		}
		read, err := parser.ParseQuery(of)
		fatal.If(t, err)
		observers := &core.Events{}
		observers.OnField(func(_ *core.Walker, field *ast.Field) {
			fields++
			if field.Definition != nil && field.Definition.Directives.ForName("deprecated") != nil {
				t.Errorf("%s: %s is deprecated", of.Name, field.Name)
			}
		})
		core.Walk(executable.Schema(), read, observers)
	}
	if len(documents) < 150 || fields < 500 {
		t.Errorf("only %d documents and %d fields were found", len(documents), fields)
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
