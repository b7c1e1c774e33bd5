package resolvers_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/federation"
)

// author writes random valid queries over a whole schema. It has the schema
// and a few values by the names of the fields that they came from.
type author struct {
	*rand.Rand
	schema *ast.Schema
	known  map[string][]any
	// most bounds the items of lists.
	most int

	// calm operations leave out what is likely to be refused.
	calm bool

	variables []string
	values    map[string]any
	fragments []string
	fields    int
}

// query writes an operation, and the values of its variables.
func (a *author) query() (string, map[string]any) {
	a.variables, a.values, a.fragments, a.fields = nil, map[string]any{}, nil, 0
	a.calm = a.IntN(3) > 0
	var fields []string
	for range 1 + a.IntN(3) {
		fields = append(fields, a.field(a.schema.Query, a.pick(a.schema.Query), 0))
	}
	head := "query"
	if len(a.variables) > 0 {
		head += "(" + strings.Join(a.variables, ", ") + ")"
	}
	return head + " {" + strings.Join(fields, " ") + "}\n" + strings.Join(a.fragments, "\n"), a.values
}

// pick chooses a field other than those of introspection.
func (a *author) pick(of *ast.Definition) *ast.FieldDefinition {
	for {
		if f := of.Fields[a.IntN(len(of.Fields))]; !strings.HasPrefix(f.Name, "__") {
			return f
		}
	}
}

// Bounds of an operation: the nesting of objects, and about how many fields.
const (
	deepest = 7
	longest = 60
)

func (a *author) selection(of *ast.Definition, depth int) string {
	parts := []string{"__typename"}
	if of.Kind == ast.Object || of.Kind == ast.Interface {
		for range 1 + a.IntN(6) {
			f := a.pick(of)
			if (depth >= deepest || a.fields > longest) && !a.schema.Types[f.Type.Name()].IsLeafType() {
				continue
			}
			parts = append(parts, a.wrapped(of, a.field(of, f, depth), depth))
		}
	}
	if of.IsAbstractType() {
		for _, possible := range a.schema.GetPossibleTypes(of) {
			parts = append(parts, "... on "+possible.Name+" "+a.selection(possible, depth+1))
		}
	}
	if a.IntN(2) == 0 {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		parts = []string{"__typename"}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// wrapped puts a field into fragments now and then.
func (a *author) wrapped(of *ast.Definition, field string, depth int) string {
	switch a.IntN(12) {
	case 0:
		return "... " + a.directive() + "{" + field + "}"
	case 1:
		return "... on " + of.Name + " {" + field + "}"
	case 2:
		name := fmt.Sprintf("f%d", len(a.fragments))
		a.fragments = append(a.fragments, "fragment "+name+" on "+of.Name+" {"+field+"}")
		return "..." + name + " ..." + name + " " + a.directive()
	case 3:
		if len(of.Interfaces) > 0 && depth < deepest {
			shared := a.schema.Types[of.Interfaces[0]]
			return "... on " + shared.Name + " {" + a.leaf(shared) + "} " + field
		}
	}
	return field
}

// leaf selects a field without arguments or selections.
func (a *author) leaf(of *ast.Definition) string {
	for _, f := range of.Fields {
		if a.schema.Types[f.Type.Name()].IsLeafType() && len(f.Arguments) == 0 {
			return f.Name
		}
	}
	return "__typename"
}

// directive is a condition on the selection, or none.
func (a *author) directive() string {
	name := []string{"include", "skip"}[a.IntN(2)]
	switch a.IntN(10) {
	case 0:
		return fmt.Sprintf("@%s(if: %t) ", name, a.IntN(2) == 0)
	case 1:
		return "@" + name + "(if: " + a.variable("Boolean!", a.IntN(2) == 0) + ") "
	}
	return ""
}

// field selects a field, sometimes twice so that the selections merge.
func (a *author) field(of *ast.Definition, f *ast.FieldDefinition, depth int) string {
	a.fields++
	head := fmt.Sprintf("a%d: %s", a.fields, f.Name)
	switch plain := len(f.Arguments) == 0 && a.schema.Types[f.Type.Name()].IsLeafType(); {
	case plain && len(of.Interfaces) > 0: // beside other types of the interface
		head = of.Name + "_" + f.Name + ": " + f.Name
	case plain:
		head = f.Name
	}
	head += a.arguments(f) + " "
	to := a.schema.Types[f.Type.Name()]
	if to.IsLeafType() {
		return head + a.directive()
	}
	text := head + a.directive() + a.selection(to, depth+1)
	if a.IntN(8) == 0 {
		text += " " + head + a.selection(to, depth+2)
	}
	return text
}

func (a *author) arguments(f *ast.FieldDefinition) string {
	var parts []string
	for _, arg := range f.Arguments {
		bounded := arg.Name == "first" || arg.Name == "limit"
		if !arg.Type.NonNull && !bounded && (a.calm || a.IntN(3) > 0) {
			continue
		}
		if bounded && (a.calm || a.IntN(12) > 0) {
			parts = append(parts, fmt.Sprintf("%s: %d", arg.Name, 1+a.IntN(a.most)))
			continue
		}
		value, literal := a.value(arg.Name, arg.Type, 0)
		if a.IntN(3) == 0 {
			literal = a.variable(arg.Type.String(), value)
		}
		parts = append(parts, arg.Name+": "+literal)
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (a *author) variable(ofType string, value any) string {
	name := fmt.Sprintf("$v%d", len(a.variables))
	a.variables = append(a.variables, name+": "+ofType)
	a.values[name[1:]] = value
	return name
}

// value makes a value of an input type, as JSON and as a literal.
func (a *author) value(name string, of *ast.Type, depth int) (any, string) {
	if !of.NonNull && a.IntN(10) == 0 {
		return nil, "null"
	}
	if of.Elem != nil {
		return a.list(name, of.Elem, depth)
	}
	def := a.schema.Types[of.NamedType]
	switch def.Kind {
	case ast.Enum:
		value := def.EnumValues[a.IntN(len(def.EnumValues))].Name
		return value, value
	case ast.InputObject:
		return a.object(def, depth)
	}
	return a.scalar(name, def.Name)
}

func (a *author) list(name string, of *ast.Type, depth int) (any, string) {
	values, literals := []any{}, []string{}
	for range 1 + a.IntN(3) {
		value, literal := a.value(name, of, depth+1)
		values, literals = append(values, value), append(literals, literal)
	}
	return values, "[" + strings.Join(literals, ", ") + "]"
}

func (a *author) object(def *ast.Definition, depth int) (any, string) {
	values, literals := map[string]any{}, []string{}
	if def.Directives.ForName("oneOf") != nil {
		f := def.Fields[a.IntN(len(def.Fields))]
		value, literal := a.value(f.Name, &ast.Type{NamedType: f.Type.NamedType, Elem: f.Type.Elem, NonNull: true}, depth+1)
		return map[string]any{f.Name: value}, "{" + f.Name + ": " + literal + "}"
	}
	optional := len(def.Fields)
	for _, f := range def.Fields {
		if !f.Type.NonNull && (depth > 3 || a.IntN(optional) > 1) {
			continue
		}
		value, literal := a.value(f.Name, f.Type, depth+1)
		values[f.Name] = value
		literals = append(literals, f.Name+": "+literal)
	}
	return values, "{" + strings.Join(literals, ", ") + "}"
}

// named are the fields whose values fit arguments of another name.
var named = map[string]string{
	"after": "cursor", "before": "cursor", "ids": "id", "tagName": "name", "physicalIds": "physicalId",
	"startDate": "connectionDate", "endDate": "connectionDate",
}

func (a *author) scalar(name, scalar string) (any, string) {
	if from, ok := named[name]; ok {
		name = from
	}
	if values := a.known[name]; len(values) > 0 && (a.calm || a.IntN(6) > 0) {
		if value := values[a.IntN(len(values))]; fits(value, scalar) {
			return value, literalOf(value)
		}
	}
	var value any
	switch scalar {
	case "Int":
		value = []any{0, 1, 2, 3, 7, -1, 101}[a.IntN(7)]
	case "Float":
		value = 1.5
	case "Boolean":
		value = a.IntN(2) == 0
	case "BigInt":
		value = []any{"0", "1000", "-5"}[a.IntN(3)]
	case "_Any":
		return a.representation()
	case "DateTime":
		value = []any{"2026-11-19T00:00:00Z", "2026-11-20T06:00:00+02:00"}[a.IntN(2)]
	default:
		value = []any{"", "a", "2026-11-18", "2026-11-20", `isActive eq true`, "name desc", "\t\u00e9\"\\"}[a.IntN(7)]
	}
	return value, literalOf(value)
}

// representation names an object of any type by one of its keys.
func (a *author) representation() (any, string) {
	nodes := a.schema.GetPossibleTypes(a.schema.Types["Node"])
	of := nodes[a.IntN(len(nodes))].Name
	keys := federation.Keys(a.schema)[of]
	key := keys[a.IntN(len(keys))]
	value, literal := a.scalar(key.Field, key.Scalar)
	return map[string]any{"__typename": of, key.Field: value}, fmt.Sprintf("{__typename: %q, %s: %s}", of, key.Field, literal)
}

func fits(value any, scalar string) bool {
	switch value.(type) {
	case string:
		return scalar == "String" || scalar == "ID"
	case json.Number:
		return scalar == "Int"
	}
	return false
}

func literalOf(value any) string {
	if text, is := value.(string); is {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(text) + `"`
	}
	return fmt.Sprint(value)
}
