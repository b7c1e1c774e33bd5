package transport_test

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

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
		if got := strings.Join(transport.DeprecatedUses(document.Operations[0]), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.document, got, c.want)
		}
	}
}
