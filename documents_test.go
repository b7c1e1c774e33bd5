package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"

	"simgraph/graph/generated"
	"simgraph/internal/problem"
)

// written is how documents write operations: as curl sends them, and as such.
var written = regexp.MustCompile("(?s)--data-urlencode 'query=(.*?)'\n|```graphql\n(.*?)```|-d '(\\{\"query\".*?\\})'\n")

func TestOperationsOfTheDocumentsAreValid(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, name := range []string{"README.md", "docs/graphql.md", "docs/webhooks.md", "docs/commands.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := written.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no operations", name)
		}
		for _, match := range found {
			body := struct{ Query string }{match[1] + match[2]}
			if match[3] != "" {
				err = json.Unmarshal([]byte(match[3]), &body)
			}
			if err != nil {
				t.Errorf("%s: %v in %s", name, err, match[3])
			} else if _, errs := gqlparser.LoadQueryWithRules(schema, body.Query, nil); errs != nil {
				t.Errorf("%s: %v in %s", name, errs, body.Query)
			}
		}
	}
}

// code is how the engine declares the codes of its errors.
var code = regexp.MustCompile(`= +"([A-Z]+(?:_[A-Z]+)*)"`)

// NOT_FOUND is a code of the REST paths alone.
func TestTheCodesOfTheGraphAreDocumented(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	manual := read("docs/graphql.md")
	for _, name := range []string{"graph/engine/transport/codes.go", "internal/problem/codes.go", "graph/engine/guard/measure.go", "graph/engine/input/checker.go", "domain/error.go"} {
		codes := code.FindAllStringSubmatch(read(name), -1)
		if len(codes) == 0 {
			t.Errorf("%s has no codes", name)
		}
		for _, c := range codes {
			if c[1] != problem.NoRoute && !strings.Contains(manual, "`"+c[1]+"`") {
				t.Errorf("%s of %s is not in docs/graphql.md", c[1], name)
			}
		}
	}
}
