package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"simgraph/graph/generated"
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

func TestThePageAsksForNothingDeprecated(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	fields := 0
	for path, text := range pageDocuments(t) {
		document, err := parser.ParseQuery(&ast.Source{Name: path, Input: text})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		observers := &core.Events{}
		observers.OnField(func(_ *core.Walker, field *ast.Field) {
			fields++
			if field.Definition != nil && field.Definition.Directives.ForName("deprecated") != nil {
				t.Errorf("%s: %s is deprecated", path, field.Name)
			}
		})
		core.Walk(schema, document, observers)
	}
	if fields < 500 {
		t.Errorf("only %d fields were found", fields)
	}
}

// pageDocuments are the documents of each file of the page.
func pageDocuments(t *testing.T) map[string]string {
	t.Helper()
	sources, named := map[string]string{}, map[string]string{}
	err := filepath.WalkDir("web/app", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
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
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for path, content := range sources {
		for _, match := range pageTexts.FindAllStringSubmatch(content, -1) {
			if text := match[1] + match[2]; isPageDoc.MatchString(text) {
				found[path] += pageHole.ReplaceAllStringFunc(text, func(hole string) string {
					name := hole[2 : len(hole)-1]
					return cmp.Or(named[path+name], named[name])
				}) + "\n"
			}
		}
	}
	return found
}
