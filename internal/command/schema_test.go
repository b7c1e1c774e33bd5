package command

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

var updateSchema = flag.Bool("update", false, "write docs/schema.graphql")

// TestTheCommittedSchemaIsCurrent lets reviewers see each change of the contract.
func TestTheCommittedSchemaIsCurrent(t *testing.T) {
	const path = "../../docs/schema.graphql"
	var now bytes.Buffer
	writeSchema(&now)
	if *updateSchema {
		if err := os.WriteFile(path, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(committed, now.Bytes()) {
		t.Errorf("%s is not what simgraph schema prints; write it by: go test ./internal/command -run Schema -update (%v)", path, err)
	}
}

// TestTheChangelogNamesEveryBreakingChange compares with the schema of the last
// release: the topmost section must name the coordinate of a break, or its type.
func TestTheChangelogNamesEveryBreakingChange(t *testing.T) {
	before, err := readSchema("testdata/released.graphql")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := strings.SplitN(string(text), "\n## ", 4)[2]
	named := map[string]bool{}
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(newest, -1) {
		named[match[1]] = true
	}
	for _, change := range diffSchemas(before, graphSchema()) {
		field, _, _ := strings.Cut(change.at, "(")
		owner, name, _ := strings.Cut(field, ".")
		if change.breaking && !named[field] && !named[owner] && !named[name] {
			t.Errorf("CHANGELOG.md does not name %s", change)
		}
	}
}

func TestBreakingChangesAreToldFromOthers(t *testing.T) {
	load := func(text string) *ast.Schema {
		return gqlparser.MustLoadSchema(&ast.Source{Input: text})
	}
	before := load(`type Query { a(x: Int, y: Int!): String! b: [Int!]! c: E i(in: In): Int } enum E { ONE TWO } input In { p: Int! } interface N { id: ID! } type O implements N { id: ID! }`)
	after := load(`type Query { a(x: Int!, y: Int): String b: [Int!]! c: E d: Int i(in: In, z: Int!): Int! } enum E { ONE THREE } input In { p: Int q: Int! } interface N { id: ID! } type O { id: ID! }`)
	var got []string
	for _, change := range diffSchemas(before, after) {
		got = append(got, change.String())
	}
	want := []string{
		"breaking: E.TWO was removed", "safe: E.THREE was added", "safe: In.p was Int! and is Int", "breaking: In.q was added", "breaking: O is no N any more",
		"breaking: Query.a was String! and is String", "breaking: Query.a(x:) was Int and is Int!", "safe: Query.a(y:) was Int! and is Int",
		"safe: Query.i was Int and is Int!", "breaking: Query.i(z:) was added", "safe: Query.d was added",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
