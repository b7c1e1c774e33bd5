package transport_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"simgraph/domain/document"
	"simgraph/graph/engine/transport"
)

func TestDeprecatedCoordinatesAreFoundOnceInAnOperation(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query {old(of: In, by: By @deprecated, bys: [By!]): Query @deprecated new(of: In, by: By, ins: [In!]): Query node: Node}
		interface Node {id: ID @deprecated}
		type Thing implements Node {id: ID name: String @deprecated}
		input In {a: Int, b: Int @deprecated, in: In}
		enum By {OLD @deprecated NEW}`})
	spreads := strings.Repeat("...F ", 50)
	for _, c := range []struct{ document, want string }{
		{`{new {new {__typename}}}`, ``},
		{`{old {new {old {__typename}}} again: old {__typename}}`, `Query.old`},
		{`{new(by: OLD) {__typename}}`, `By.OLD`},
		{`{old(by: NEW, bys: [NEW, OLD]) {__typename}}`, `By.OLD Query.old Query.old(by:)`},
		{`{new(of: {a: 1, in: {b: 2}}) {__typename}}`, `In.b`},
		{`{new(ins: [{a: 1}, {b: 2}]) {__typename}}`, `In.b`},
		{`query ($of: In = {b: 1}, $by: By) {new(of: $of, by: $by) {__typename}}`, `In.b`},
		{`{node {id ... on Thing {id name}}}`, `Node.id Thing.name`},
		{`{...F} fragment F on Query {new {...G}} fragment G on Query {old {__typename}}`, `Query.old`},
		{`{` + spreads + `} fragment F on Query {new {...G ...G ...G}} fragment G on Query {old {__typename}}`, `Query.old`},
	} {
		document := gqlparser.MustLoadQueryWithRules(schema, c.document, rules.NewDefaultRules())
		if _, deprecated := transport.Uses(schema, document.Operations[0]); strings.Join(deprecated, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.document, deprecated, c.want)
		}
	}
}

func TestEveryCoordinateOfATextIsFoundOnce(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query {new(of: In, by: By, ins: [In!], n: Int): Query node: Node}
		interface Node {id: ID}
		type Thing implements Node {id: ID name: String}
		input In {a: Int, b: By, in: In}
		enum By {OLD NEW}`})
	for _, c := range []struct{ document, want string }{
		{`{__typename __schema {types {name}}}`, ``},
		{`{new {__typename} again: new {new {__typename}}}`, `Query.new`},
		{`query ($n: Int) {new(n: $n, by: OLD) {__typename}}`, `By.OLD Query.new Query.new(by:) Query.new(n:)`},
		{`{new(of: {a: 1, in: {b: NEW}}, ins: [{a: 2}]) {__typename}}`, `By.NEW In.a In.b In.in Query.new Query.new(ins:) Query.new(of:)`},
		{`query ($of: In = {b: NEW}, $by: By) {new(of: $of) {new(by: $by) {__typename}}}`, `By By.NEW In In.b Query.new Query.new(by:) Query.new(of:)`},
		{`{node {id ... on Thing {name} ...F}} fragment F on Node {id ... {id}}`, `Node Node.id Query.node Thing Thing.name`},
	} {
		document := gqlparser.MustLoadQueryWithRules(schema, c.document, nil)
		if all, _ := transport.Uses(schema, document.Operations[0]); strings.Join(all, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.document, all, c.want)
		}
	}
}

// used gathers what operations use.
type used struct {
	mu    sync.Mutex
	lines []string
}

func (u *used) count(_ context.Context, use transport.Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lines = append(u.lines, fmt.Sprintf("%s %s %s%v%v", use.Client, use.Version, use.Fields.Operation, use.Fields.Coordinates, use.Given))
}

func (u *used) take() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	lines := strings.Join(u.lines, "; ")
	u.lines = nil
	return lines
}

// Operations that run are counted, over each way in, with what the client calls itself.
func TestOperationsAreCountedWithTheirClient(t *testing.T) {
	u := new(used)
	b := newBench(t, func(c *transport.Config) { c.Count = u.count })
	app := []string{"Apollographql-Client-Name", "app", "Apollographql-Client-Version", "1.2"}
	for _, c := range []struct {
		body, want string
		headers    []string
	}{
		{`{"query":"query Q {hello}"}`, `  Q[Query.hello][]`, nil},
		{`{"query":"{hello}"}`, `app 1.2 ` + document.IDOf("{hello}") + `[Query.hello][]`, app},
		{`{"query":"query Q {hello}"}`, `other  Q[Query.hello][]`, []string{"Graphql-Client-Name", "other", "Apollographql-Client-Version", "3"}},
		{`{"query":"query Q {nowhere}"}`, ``, app},
		{`{"query":"query Q($n:Int!) {integer(value:$n)}"}`, ``, app},
		{`{"query":"mutation M {increment}"}`, `app 1.2 M[Mutation.increment][]`, app},
	} {
		if b.post(c.body, c.headers...); u.take() != c.want {
			t.Errorf("%s: want %q", c.body, c.want)
		}
		b.post(c.body, append([]string{"Accept", streamType}, c.headers...)...)
		if got := u.take(); got != c.want {
			t.Errorf("as events %s: %q", c.body, got)
		}
	}
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"connection_init","payload":{"apollographql-client-name":"browser","apollographql-client-version":7}}`)
	w.expect("connection_ack")
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"query Q {hello}"}}`)
	w.expect("next")
	if got := u.take(); got != `browser  Q[Query.hello][]` {
		t.Error(got)
	}
	run, err := b.engine.Prepare("query P {hello}")
	if err != nil {
		t.Fatal(err)
	}
	run(t.Context(), nil)
	if got := u.take(); got != `  P[Query.hello][]` {
		t.Error(got)
	}
}

// Values of variables add the names of input fields and of enum values, and nothing else.
func TestWhatVariablesUseIsCounted(t *testing.T) {
	u := new(used)
	b := newBench(t, func(c *transport.Config) { c.Count = u.count })
	const filter = `"query":"query Q($f:Filter,$c:Color) {filter(value:$f) color(value:$c)}"`
	of := func(given string) string {
		return "  Q[Color Filter Query.color Query.color(value:) Query.filter Query.filter(value:)][" + given + "]"
	}
	for body, want := range map[string]string{
		`{` + filter + `}`: of(""),
		`{` + filter + `,"variables":{"f":null,"c":"RED"}}`:                                                                                     of("Color.RED"),
		`{` + filter + `,"variables":{"f":{"name":"GREEN","colors":["GREEN","GREEN"]}}}`:                                                        of("Color.GREEN Filter.colors Filter.name"),
		`{` + filter + `,"variables":{"f":{"colors":"RED","and":[{"choice":{"text":"secret"}},{"choice":{"number":1}}]},"other":{"name":"x"}}}`: of("Choice.number Choice.text Color.RED Filter.and Filter.choice Filter.colors"),
		`{"query":"query Q($n:String) {filter(value:{name:$n}) }","variables":{"n":"secret"}}`:                                                  `  Q[Filter.name Query.filter Query.filter(value:)][]`,
		`{"query":"query Q($f:Filter={name:\"a\"}) {filter(value:$f)}"}`:                                                                        `  Q[Filter Filter.name Query.filter Query.filter(value:)][]`,
		`{"query":"query Q($a:Anything) {anything(value:$a)}","variables":{"a":{"name":"x"}}}`:                                                  `  Q[Anything Query.anything Query.anything(value:)][]`,
	} {
		if b.post(body); u.take() != want {
			t.Errorf("%s: want %q", body, want)
		}
	}
}
