package security

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/dbtest"
)

// extremes are values of the scalars, as JSON, at their ends and beyond.
var extremes = map[string][]string{
	"Int":      {`-2147483648`, `2147483647`, `1e9`, `1e9223372036854775807`},
	"BigInt":   {`-9223372036854775808`, `9223372036854775807`, `1e9223372036854775807`},
	"Float":    {`1e308`, `5e-324`, `1e400000000`},
	"DateTime": {`"0001-01-01T00:00:00Z"`, `"2026-06-01T00:00:00+23:59"`, `"2026-06-01T00:00:00.999999999-23:59"`, `"9999-12-31T23:59:59.999999999Z"`, `"0000-12-31T00:00:00Z"`},
	"String":   {`""`, `"%"`, `"\u0000"`, `"9223372036854775808"`, `"2026-06-01T00:00:00+23:59"`, `"0001-01-01"`, `"9999-12-31"`, `"` + strings.Repeat("x", 5_000) + `"`},
	"ID":       {`9223372036854775808`, `-1`},
}

// extreme is a place in the arguments of a field that takes values of a scalar.
type extreme struct {
	path   []string
	scalar string
	isList bool
}

// scalars lists the places in an argument or input. Filters nest in themselves: and,
// or and not are left out, and one operator stands for all of a comparison.
func (w *world) scalars(path []string, of *ast.Type) []extreme {
	def := w.schema.Types[of.Name()]
	if def.Kind != ast.InputObject {
		return []extreme{{path, def.Name, of.Elem != nil}}
	}
	fields := def.Fields
	for _, operator := range []string{"eq", "gt"} {
		if found := def.Fields.ForName(operator); found != nil {
			fields = ast.FieldList{found}
		}
	}
	var all []extreme
	for _, field := range fields {
		if !slices.Contains([]string{"and", "or", "not"}, field.Name) {
			all = append(all, w.scalars(append(into(path, def), field.Name), field.Type)...)
		}
	}
	return all
}

// Whatever value a caller sends, the answer is one, or says what is wrong: nobody
// with a token can write an internal error into the log.
func TestNoValueIsAnInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.tokens["own-admin@acme.example"]
	var turn turns
	// All are made before the first value is sent: nothing follows the highest group.
	var probes []probe
	for _, field := range append(w.queryFields(), visibleFields(w.schema.Mutation)...) {
		probes = append(probes, w.probe(field, w.fresh(t), walker{schema: w.schema, depth: 1}))
	}
	for _, pair := range w.below() {
		probes = append(probes, w.probeBelow(pair.root, pair.field, w.victim(t, own), walker{schema: w.schema, depth: 1}))
	}
	endpoints, bases := w.endpoints(t), []map[string]any{}
	for _, e := range endpoints {
		bases = append(bases, e.values(w.fresh(t)))
	}
	for _, p := range probes {
		for _, argument := range p.field.Arguments {
			for _, at := range w.scalars([]string{argument.Name}, argument.Type) {
				for _, value := range turn.tried(extremes[at.scalar]) {
					variables := with(p.variables, at.path, json.RawMessage(value), at.isList)
					if a := w.query(t, token, p.document, variables); a.isInternal() {
						t.Errorf("%s.%s: %.80s: %d %s", p.name, strings.Join(at.path, "."), value, a.status, a.body)
					}
				}
			}
		}
	}
	values := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(extremes))...)))
	for i, e := range endpoints {
		for _, p := range e.parameters {
			for _, value := range turn.tried(values) {
				given := maps.Clone(bases[i])
				given[p.Name] = json.RawMessage(value)
				if p.In != "body" {
					given[p.Name] = unquoted(value)
				}
				if a := e.send(t, w, token, given); a.isInternal() {
					t.Errorf("%s %s: %s: %.80s: %d %s", e.method, e.path, p.Name, value, a.status, a.body)
				}
			}
		}
	}
}

// turns takes values in turn.
type turns int

// tried are the values that a place gets: a few, and the next place the next ones, or with
// -short, as under the race detector, one. A nightly run has all at every place.
func (n *turns) tried(values []string) []string {
	most := 3
	switch {
	case dbtest.Nightly():
		return values
	case testing.Short():
		most = 1
	}
	if len(values) <= most {
		return values
	}
	some := make([]string, most)
	for i := range some {
		some[i] = values[int(*n)%len(values)]
		*n++
	}
	return some
}

// unquoted is a JSON value as the text of a path or query.
func unquoted(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		return value
	}
	return text
}

func (a answer) isInternal() bool {
	return a.status >= 500 || strings.Contains(string(a.body), `"INTERNAL_ERROR"`)
}
