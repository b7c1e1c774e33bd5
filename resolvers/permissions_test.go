package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/engine/guard"
	"simgraph/resolvers"
)

func schemaOf() *ast.Schema { return resolvers.New(resolvers.Ports{}, nil).Schema().Schema() }

// rootFields are the fields of the roots, without those of introspection.
func rootFields(schema *ast.Schema) map[string]ast.FieldList {
	roots := map[string]ast.FieldList{}
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		if root == nil {
			continue
		}
		for _, field := range root.Fields {
			if !strings.HasPrefix(field.Name, "__") {
				roots[strings.ToLower(root.Name)] = append(roots[strings.ToLower(root.Name)], field)
			}
		}
	}
	return roots
}

func TestEveryRootFieldIsGuarded(t *testing.T) {
	t.Parallel()
	for root, fields := range rootFields(schemaOf()) {
		for _, field := range fields {
			if field.Directives.ForName("guard") == nil {
				t.Errorf("%s.%s lacks @guard", root, field.Name)
			}
		}
	}
}

func TestEverythingInTheSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	for name, def := range schemaOf().Types {
		if def.BuiltIn || strings.HasPrefix(name, "__") || slices.Contains([]string{"Query", "Mutation", "Subscription"}, name) {
			continue
		}
		if def.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for _, field := range def.Fields {
			if field.Description == "" {
				t.Errorf("%s.%s has no description", name, field.Name)
			}
		}
		for _, value := range def.EnumValues {
			if value.Description == "" {
				t.Errorf("%s.%s has no description", name, value.Name)
			}
		}
	}
	for root, fields := range rootFields(schemaOf()) {
		for _, field := range fields {
			if field.Description == "" {
				t.Errorf("%s.%s has no description", root, field.Name)
			}
		}
	}
}

// Each root field, selected by callers who lack one of its permissions, is refused
// and names that permission; nothing of it runs.
func TestTheMatrixOfPermissions(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	schema := schemaOf()
	everything := s.caller
	for root, fields := range rootFields(schema) {
		if root == "subscription" {
			continue // these need a stream: see the transport
		}
		for _, field := range fields {
			refused := func(selection string, permissions []string) {
				for _, lacking := range permissions {
					caller := *everything
					caller.Permissions = slices.DeleteFunc(slices.Clone(caller.Permissions), func(p domain.Permission) bool { return string(p) == lacking })
					s.caller = &caller
					a := s.ask(t, fmt.Sprintf("%s {%s}", root, selection))
					if a.code() != "FORBIDDEN" || !strings.Contains(a.Errors[0].Message, domain.Permission(lacking).Label()) || a.Statements != 0 {
						t.Errorf("%s.%s without %s: %v, %d statements", root, selection, lacking, a.Errors, a.Statements)
					}
				}
			}
			refused(selectionOf(schema, field), guard.Permissions(field.Directives))
			if input := field.Arguments.ForName("input"); input != nil {
				for _, guarded := range schema.Types[input.Type.Name()].Fields {
					if permissions := guard.Permissions(guarded.Directives); len(permissions) > 0 {
						refused(fmt.Sprintf("%s(input: %s) {__typename}", field.Name, literalWith(schema, input.Type, guarded)), permissions)
					}
				}
			}
		}
	}
}

// selectionOf writes a valid selection of the field: arguments where they must
// be given, and __typename below.
func selectionOf(schema *ast.Schema, field *ast.FieldDefinition) string {
	var arguments []string
	for _, argument := range field.Arguments {
		if argument.Type.NonNull && argument.DefaultValue == nil {
			arguments = append(arguments, argument.Name+": "+literal(schema, argument.Type))
		}
	}
	text := field.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	if schema.Types[field.Type.Name()].IsCompositeType() {
		text += " {__typename}"
	}
	return text
}

// literalWith writes a value of an input of a mutation that also sets a field.
func literalWith(schema *ast.Schema, of *ast.Type, field *ast.FieldDefinition) string {
	needed := literal(schema, of)
	return strings.TrimSuffix(needed, "}") + ", " + field.Name + ": " + literal(schema, field.Type) + "}"
}

// literal writes a value of the type.
func literal(schema *ast.Schema, of *ast.Type) string {
	if of.Elem != nil {
		return "[" + literal(schema, of.Elem) + "]"
	}
	def := schema.Types[of.Name()]
	switch {
	case def.Kind == ast.Enum:
		return def.EnumValues[0].Name
	case def.Kind == ast.InputObject:
		var fields []string
		for _, field := range def.Fields {
			if field.Type.NonNull && field.DefaultValue == nil || def.Directives.ForName("oneOf") != nil && len(fields) == 0 {
				fields = append(fields, field.Name+": "+literal(schema, field.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	switch def.Name {
	case "Int", "BigInt", "Float":
		return "1"
	case "Boolean":
		return "true"
	case "DateTime":
		return `"2026-11-01T00:00:00Z"`
	}
	return `"U3Vic2NyaWJlcjox"`
}

// The filter input, the order enum and the fields of the domain are one list in
// three writings.
func TestFiltersAndOrdersNameTheFieldsOfTheDomain(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	s := newStack(t)
	for _, value := range schema.Types["SubscriberOrderField"].EnumValues {
		s.mustAsk(t, fmt.Sprintf(`{subscribers(first: 1, orderBy: [{field: %s}]) {nodes {__typename}}}`, value.Name))
	}
	filters := inputPaths(schema, "SubscriberFilter", "")
	for _, field := range domain.SubscriberFields.All() {
		if !slices.Contains(filters, field.Name) {
			t.Errorf("SubscriberFilter lacks %s", field.Name)
		}
		enum := strings.ToUpper(strings.ReplaceAll(field.Name, ".", ""))
		if field.Type != query.Set && !slices.ContainsFunc(schema.Types["SubscriberOrderField"].EnumValues, func(v *ast.EnumValueDefinition) bool {
			return strings.ReplaceAll(v.Name, "_", "") == enum
		}) {
			t.Errorf("SubscriberOrderField lacks %s", field.Name)
		}
	}
	for _, path := range filters {
		if _, known := domain.SubscriberFields.Find(path); !known {
			t.Errorf("the domain lacks %s", path)
		}
	}
}

// inputPaths lists the dotted names of a filter input.
func inputPaths(schema *ast.Schema, input, prefix string) []string {
	var paths []string
	for _, field := range schema.Types[input].Fields {
		switch of := field.Type.Name(); {
		case of == "SubscriberFilter":
		case schema.Types[of].Fields.ForName("eq") != nil:
			paths = append(paths, prefix+field.Name)
		default:
			paths = append(paths, inputPaths(schema, of, prefix+field.Name+".")...)
		}
	}
	return paths
}
