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

// ForClients returns the schema to print, without what each subgraph has for gateways: tools of clients refuse
// scalars that their configuration does not name.
func ForClients(schema *ast.Schema) *ast.Schema {
	part := *schema
	part.Types = make(map[string]*ast.Definition, len(schema.Types))
	for name, def := range schema.Types {
		if isFederations(name) {
			continue
		}
		shown := *def
		shown.Fields = slices.DeleteFunc(slices.Clone(def.Fields), func(f *ast.FieldDefinition) bool { return isFederations(f.Name) })
		part.Types[name] = &shown
	}
	return &part
}

// SDL returns the schema of the subgraph: that for clients with @link, @key and @shareable.
func SDL(schema *ast.Schema) string {
	part := ForClients(schema)
	for name, keys := range Keys(schema) {
		node := part.Types[name]
		node.Directives = slices.Clone(node.Directives)
		for _, key := range keys {
			fields := &ast.Argument{Name: "fields", Value: &ast.Value{Kind: ast.StringValue, Raw: key.Field}}
			node.Directives = append(node.Directives, &ast.Directive{Name: "key", Arguments: ast.ArgumentList{fields}})
		}
	}
	part.Types[shared].Directives = append(slices.Clone(part.Types[shared].Directives), &ast.Directive{Name: "shareable"})
	return header + Print(part)
}

// Print writes a schema in its language.
func Print(schema *ast.Schema) string {
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).FormatSchema(schema)
	return text.String()
}

// isFederations reports a name of the specification: they begin with one underscore.
func isFederations(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__")
}
