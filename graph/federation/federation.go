// Package federation describes the graph as a subgraph of Apollo Federation 2: the schema that a gateway
// composes, and the keys by which it names objects.
package federation

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// header comes before the schema. Version 2.0 has all that is used here, so that old gateways read it too.
// The composition knows no @oneOf unless it is declared.
const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT
`

// shared is the type that each graph with connections has, by the specification of Relay.
const shared = "PageInfo"

// Key is a field that finds an object, with the name of its scalar.
type Key struct{ Field, Scalar string }

// Keys returns the keys of each type that implements Node: its global id, and the natural keys, which are
// the fields of the input that looks it up: SubscriberKey, or AlertKey for the kinds of the interface.
func Keys(schema *ast.Schema) map[string][]Key {
	all := map[string][]Key{}
	for _, node := range schema.GetPossibleTypes(schema.Types["Node"]) {
		keys := []Key{{"id", "ID"}}
		for _, name := range append([]string{node.Name}, node.Interfaces...) {
			input := schema.Types[name+"Key"]
			if input == nil {
				continue
			}
			for _, field := range input.Fields {
				if field.Name != "id" {
					keys = append(keys, Key{field.Name, field.Type.Name()})
				}
			}
		}
		all[node.Name] = keys
	}
	return all
}

// SDL returns the schema of the subgraph: that of the graph with @link, @key and @shareable, and without
// what each subgraph has.
func SDL(schema *ast.Schema) string {
	keys := Keys(schema)
	part := &ast.Schema{Types: map[string]*ast.Definition{}, Directives: schema.Directives}
	for name, def := range schema.Types {
		if isFederations(name) {
			continue
		}
		shown := *def
		shown.Fields = slices.DeleteFunc(slices.Clone(def.Fields), func(f *ast.FieldDefinition) bool { return isFederations(f.Name) })
		shown.Directives = slices.Clone(def.Directives)
		for _, key := range keys[name] {
			fields := &ast.Argument{Name: "fields", Value: &ast.Value{Kind: ast.StringValue, Raw: key.Field}}
			shown.Directives = append(shown.Directives, &ast.Directive{Name: "key", Arguments: ast.ArgumentList{fields}})
		}
		if name == shared {
			shown.Directives = append(shown.Directives, &ast.Directive{Name: "shareable"})
		}
		part.Types[name] = &shown
	}
	var text strings.Builder
	text.WriteString(header)
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).FormatSchema(part)
	return text.String()
}

// isFederations reports a name of the specification: they begin with one underscore.
func isFederations(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__")
}
