package command

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/internal/fatal"
)

var updateSchema = flag.Bool("update", false, "write docs/schema.graphql")

// TestTheCommittedSchemaIsCurrent lets reviewers see each change of the contract.
func TestTheCommittedSchemaIsCurrent(t *testing.T) {
	const path = "../../docs/schema.graphql"
	now := printedSchema()
	if *updateSchema {
		fatal.If(t, os.WriteFile(path, []byte(now), 0o644))
	}
	committed, err := os.ReadFile(path)
	if err != nil || string(committed) != now {
		t.Errorf("%s is not what simgraph schema prints; write it by: go test ./internal/command -run Schema -update (%v)", path, err)
	}
}

// TestTheChangelogNamesEveryBreakingChange compares with the schema of the last
// release.
func TestTheChangelogNamesEveryBreakingChange(t *testing.T) {
	before, err := readSchema("testdata/released.graphql")
	fatal.If(t, err)
	text, err := os.ReadFile("../../CHANGELOG.md")
	fatal.If(t, err)
	for _, change := range unnamed(diffSchemas(before, graphSchema()), string(text)) {
		t.Errorf("CHANGELOG.md does not name `%s` under Breaking: %s", change.at, change)
	}
}

// unnamed returns the breaks that the topmost section of a changelog does not name
// by their coordinates, in backquotes in an entry under a heading that begins with
// Breaking. The entry must also name what a type or directive is without, and state
// of what was removed that it is gone: the same field may have become nullable.
func unnamed(changes []schemaChange, changelog string) (missing []schemaChange) {
	var entries []string
	for _, part := range strings.Split(newest(changelog), "\n### ")[1:] {
		if strings.HasPrefix(part, "Breaking") {
			entries = append(entries, strings.Split(part, "\n- ")[1:]...)
		}
	}
	isGone := regexp.MustCompile(`\b(gone|removed)\b`)
	for _, change := range changes {
		names := func(entry string) bool {
			return strings.Contains(entry, "`"+change.at+"`") && strings.Contains(entry, change.without) &&
				(change.what != "was removed" || isGone.MatchString(entry))
		}
		if change.breaking && !slices.ContainsFunc(entries, names) {
			missing = append(missing, change)
		}
	}
	return missing
}

// newest returns the topmost section about a version.
func newest(changelog string) string {
	for _, section := range strings.Split(changelog, "\n## ") {
		if section[0] >= '0' && section[0] <= '9' {
			return section
		}
	}
	return ""
}

const madeUp = `
directive @shown(by: Int, last: Int) repeatable on FIELD | QUERY
directive @past on FIELD
interface Node { id: ID! }
type Query { subscriber(id: ID!, first: Int = 5, all: Boolean! = true): Subscriber found: Found list(filter: Filter): [Int!]! }
type Subscriber implements Node { id: ID! nickname: String! kind: Kind }
type Tag { name: String! }
type Former { name: String }
union Found = Subscriber | Tag
enum Kind { CELLULAR SATELLITE }
input Filter { kind: Kind = CELLULAR limit: Int! = 5 name: String }
scalar Moment`

// breaks change the schema above in one place.
var breaks = []struct{ old, new, at, without string }{
	{` nickname: String!`, ``, "Subscriber.nickname", ""},
	{`nickname: String!`, `nickname: String`, "Subscriber.nickname", ""},
	{`nickname: String!`, `nickname: Int!`, "Subscriber.nickname", ""},
	{`nickname: String!`, `nickname(short: Boolean!): String!`, "Subscriber.nickname(short:)", ""},
	{`[Int!]!`, `[Int]!`, "Query.list", ""},
	{`, first: Int = 5`, ``, "Query.subscriber(first:)", ""},
	{`first: Int =`, `first: Int! =`, "Query.subscriber(first:)", ""},
	{`first: Int =`, `first: String =`, "Query.subscriber(first:)", ""},
	{`all: Boolean! = true`, `all: Boolean!`, "Query.subscriber(all:)", ""},
	{`implements Node`, ``, "Subscriber", "Node"},
	{` | Tag`, ``, "Found", "Tag"},
	{` SATELLITE`, ``, "Kind.SATELLITE", ""},
	{` name: String }
scalar`, ` }
scalar`, "Filter.name", ""},
	{`limit: Int! = 5`, `limit: Int!`, "Filter.limit", ""},
	{`limit: Int! = 5`, `limit: Int! = 5 size: Int!`, "Filter.size", ""},
	{`kind: Kind =`, `kind: Kind! =`, "Filter.kind", ""},
	{`input Filter { kind: Kind = CELLULAR limit: Int! = 5`, `input Filter @oneOf { kind: Kind limit: Int`, "Filter", ""},
	{`type Former { name: String }`, ``, "Former", ""},
	{`scalar Moment`, `enum Moment { NOW }`, "Moment", ""},
	{`directive @past on FIELD`, ``, "@past", ""},
	{`, last: Int`, ``, "@shown(last:)", ""},
	{`by: Int,`, `by: Int!,`, "@shown(by:)", ""},
	{` | QUERY`, ``, "@shown", "QUERY"},
	{`repeatable `, ``, "@shown", ""},
}

func TestABreakThatTheChangelogDoesNotNameItselfIsRefused(t *testing.T) {
	before := gqlparser.MustLoadSchema(&ast.Source{Input: madeUp})
	for _, c := range breaks {
		after := gqlparser.MustLoadSchema(&ast.Source{Input: strings.Replace(madeUp, c.old, c.new, 1)})
		changes := diffSchemas(before, after)
		name := fmt.Sprintf("`%s` `%s`", c.at, c.without)
		for entry, accepted := range map[string]bool{
			"- `Subscriber`, `Query` and `nickname`, removed\n\n### Added\n\n- removed: " + name: false,
			"- `Filter.all`\n\n## 0.1.0\n\n### Breaking\n\n- removed: " + name:                   false,
			"- " + name: !strings.Contains(fmt.Sprint(changes), "was removed"),
			"- something else\n- " + name + " is gone or changed\n- and this\n\n### Fixed\n\n- nothing": true,
		} {
			missing := unnamed(changes, "# Changelog\n\n## How\n\n## 0.2.0\n\n### Breaking in GraphQL\n\n"+entry+"\n")
			if accepted != (len(missing) == 0) || !accepted && (len(missing) != 1 || missing[0].at != c.at) {
				t.Errorf("%q for %q: the changelog lacks %v:\n%s", c.new, c.old, missing, entry)
			}
		}
	}
}

func TestADiffSeparatesBreakingChangesFromOthers(t *testing.T) {
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

// A change breaks those clients alone that use what it changes.
func TestOnlyWhatClientsUseIsHeldAgainstAChange(t *testing.T) {
	t.Parallel()
	load := func(text string) *ast.Schema { return gqlparser.MustLoadSchema(&ast.Source{Input: text}) }
	const before = `
		type Query { a(x: Int, in: In): String! b: State c(s: State): Int node: Node u: U }
		interface Node { id: ID name: String }
		type Thing implements Node { id: ID name: String more: Int }
		type Other { z: Int }
		union U = Thing | Other
		input In { p: Int q: Deep }
		input Deep { r: Int }
		enum State { ON OFF }
		directive @d on FIELD`
	for _, c := range []struct {
		old, new string
		// used are coordinates that are used one after the other, breaks those of them with which the change is refused.
		used, breaks string
	}{
		{"a(x: Int, in: In): String!", "a(in: In): String!", "Query.a Query.a(in:) Query.a(x:)", "Query.a(x:)"},
		{"a(x: Int, in: In): String!", "a(x: Int, in: In): String", "Query.b Query.a", "Query.a"},
		{"a(x: Int, in: In): String!", "a(x: Int, in: In, y: Int!): String!", "Query.b Query.a", "Query.a"},
		{"b: State c", "c", "Query.a Query.b", "Query.b"},
		{"p: Int q", "q", "In In.q In.p Query.a(in:)", "In.p"},
		{"p: Int q", "p: Int n: Int! q", "Deep.r In In.q Query.a(in:)", "In In.q Query.a(in:)"},
		{"ON OFF", "ON", "State.ON State.OFF Query.c Query.c(s:) Query.b", "State.OFF Query.b"},
		{"type Thing implements Node { id: ID name: String", "type Thing implements Node { id: ID name: Int", "Thing.id Thing.name Node.name Node.id Other.z", "Thing.name Node.name"},
		{"U = Thing | Other", "U = Thing", "Thing.id U Query.u", "U Query.u"},
		{"type Thing implements Node", "type Thing", "Other.z Thing Thing.more Node.id", "Thing Thing.more Node.id"},
		{"directive @d on FIELD", "", "Query.b", "Query.b"},
	} {
		after := strings.Replace(before, c.old, c.new, 1)
		if strings.Contains(c.new, "name: Int") { // a type that does not fit its interface is no schema
			after = strings.Replace(after, "interface Node { id: ID name: String }", "interface Node { id: ID name: Int }", 1)
		}
		changes := diffSchemas(load(before), load(after))
		var breaks []string
		for _, at := range strings.Fields(c.used) {
			uses := newSchemaUses(load(before), []fieldUse{{Coordinate: at, Client: "app", LastDay: "2026-11-20"}})
			for _, change := range changes {
				if affected, known := uses.affected(change); change.breaking && (!known || len(affected) > 0) {
					breaks = append(breaks, at)
					break
				}
			}
		}
		if got := strings.Join(breaks, " "); got != c.breaks {
			t.Errorf("%q for %q breaks %q, want %q", c.new, c.old, got, c.breaks)
		}
	}
}

func TestUsersAreNamedWithTheirLastDays(t *testing.T) {
	t.Parallel()
	uses := []fieldUse{{Client: "app", Version: "1", LastDay: "2026-11-01"}, {Client: "app", Version: "1", LastDay: "2026-11-03"}, {Client: "others", LastDay: "2026-11-02"}}
	if got := usersOf(uses); got != "app 1 (last on 2026-11-03), others (last on 2026-11-02)" {
		t.Error(got)
	}
	for i := range 20 {
		uses = append(uses, fieldUse{Client: fmt.Sprint("client ", i)})
	}
	if got := usersOf(uses); !strings.HasSuffix(got, ", 12 more") {
		t.Error(got)
	}
}

func TestTheTimeOfUsageIsDaysOrADay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{"30d": "2026-10-21", "0d": "2026-11-20", "2026-11-01": "2026-11-01", "-1d": "", "30": "", "d": "", "99999d": "", "2026-13-01": "", "": ""} {
		at, err := sinceOf(text, now)
		if want == "" && err == nil || want != "" && (err != nil || day(at) != want) {
			t.Errorf("%q: %v %v", text, at, err)
		}
	}
}
