package transport

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/ascii"
	stored "simgraph/domain/document"
)

// Use is an operation that runs, with what it uses of the schema.
type Use struct {
	// Client and Version are what the client calls itself; "" where it does not.
	Client, Version string
	// Fields are those of the text.
	Fields *domain.UsedFields
	// Given are more coordinates, which the values of the variables use, each once.
	Given []string
}

// uses are what an operation uses of the schema, found once.
type uses struct {
	fields *domain.UsedFields
	// deprecated are those of fields that the schema deprecates.
	deprecated []string
	// inputs are the variables whose values can use more.
	inputs ast.VariableDefinitionList
}

// usesOf reads an operation of a document that was validated.
func usesOf(schema *ast.Schema, text string, def *ast.OperationDefinition) uses {
	g := gatherer{found: map[string]bool{}, fragments: map[string]bool{}}
	var u uses
	for _, variable := range def.VariableDefinitions {
		g.value(variable.DefaultValue)
		of := schema.Types[variable.Type.Name()]
		if of == nil || of.BuiltIn {
			continue
		}
		g.found[of.Name] = false
		if of.Kind == ast.InputObject || of.Kind == ast.Enum {
			u.inputs = append(u.inputs, variable)
		}
	}
	g.selections(def.SelectionSet)
	name := domain.CountedText(def.Name)
	if name == "" {
		name = stored.IDOf(text)
	}
	u.fields = &domain.UsedFields{Operation: name, Coordinates: slices.Sorted(maps.Keys(g.found))}
	for _, coordinate := range u.fields.Coordinates {
		if g.found[coordinate] {
			u.deprecated = append(u.deprecated, coordinate)
		}
	}
	return u
}

// gatherer gathers coordinates, and whether they are deprecated. What introspection asks
// for is left out.
type gatherer struct{ found, fragments map[string]bool }

func (g *gatherer) add(directives ast.DirectiveList, coordinate string) {
	g.found[coordinate] = directives.ForName("deprecated") != nil
}

func (g *gatherer) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch of := selection.(type) {
		case *ast.Field:
			g.field(of)
		case *ast.InlineFragment:
			g.on(of.TypeCondition)
			g.selections(of.SelectionSet)
		case *ast.FragmentSpread:
			if !g.fragments[of.Name] { // else many spreads would make this work without end
				g.fragments[of.Name] = true
				g.on(of.Definition.TypeCondition)
				g.selections(of.Definition.SelectionSet)
			}
		}
	}
}

func (g *gatherer) on(name string) {
	if name != "" && !isIntrospection(name) {
		g.found[name] = false
	}
}

func (g *gatherer) field(field *ast.Field) {
	if isIntrospection(field.Name) {
		return
	}
	if field.Definition != nil && field.ObjectDefinition != nil {
		coordinate := field.ObjectDefinition.Name + "." + field.Name
		g.add(field.Definition.Directives, coordinate)
		for _, argument := range field.Arguments {
			if of := field.Definition.Arguments.ForName(argument.Name); of != nil {
				g.add(of.Directives, coordinate+"("+argument.Name+":)")
			}
			g.value(argument.Value)
		}
	}
	g.selections(field.SelectionSet)
}

func isIntrospection(name string) bool { return strings.HasPrefix(name, "__") }

// value looks for input fields and enum values of a text.
func (g *gatherer) value(value *ast.Value) {
	if value == nil {
		return
	}
	if of := value.Definition; of != nil && value.Kind == ast.EnumValue {
		if one := of.EnumValues.ForName(value.Raw); one != nil {
			g.add(one.Directives, of.Name+"."+one.Name)
		}
	}
	for _, child := range value.Children {
		if of := value.Definition; of != nil && value.Kind == ast.ObjectValue {
			if field := of.Fields.ForName(child.Name); field != nil {
				g.add(field.Directives, of.Name+"."+field.Name)
			}
		}
		g.value(child.Value)
	}
}

// inputs are the coordinates of input fields and enum values, by their types and names.
type inputs map[string]map[string]string

func inputsOf(schema *ast.Schema) inputs {
	all := inputs{}
	for _, of := range schema.Types {
		members := map[string]string{}
		switch of.Kind {
		case ast.InputObject:
			for _, field := range of.Fields {
				members[field.Name] = of.Name + "." + field.Name
			}
		case ast.Enum:
			for _, value := range of.EnumValues {
				members[value.Name] = of.Name + "." + value.Name
			}
		default:
			continue
		}
		all[of.Name] = members
	}
	return all
}

// given returns the coordinates that the values of variables use beside those of the text,
// each once. The names of input fields and enum values alone are looked at.
func (s *Server) given(c *call) []string {
	if len(c.uses.inputs) == 0 {
		return nil
	}
	g := givenValues{server: s, of: c.uses.fields.Coordinates, found: map[string]bool{}}
	for _, variable := range c.uses.inputs {
		g.value(variable.Type.Name(), c.variables[variable.Variable])
	}
	return slices.Sorted(maps.Keys(g.found))
}

type givenValues struct {
	server *Server
	of     []string
	found  map[string]bool
}

func (g *givenValues) value(of string, value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			g.value(of, element)
		}
	case map[string]any:
		definition := g.server.schema.Schema().Types[of]
		if definition.Kind != ast.InputObject {
			return
		}
		for name, below := range value {
			g.add(of, name)
			if field := definition.Fields.ForName(name); field != nil {
				g.value(field.Type.Name(), below)
			}
		}
	case string:
		g.add(of, value)
	}
}

func (g *givenValues) add(of, name string) {
	coordinate := g.server.inputs[of][name]
	if coordinate == "" || g.found[coordinate] {
		return
	}
	if _, named := slices.BinarySearch(g.of, coordinate); !named {
		g.found[coordinate] = true
	}
}

// clientHeaders name a client and its version: as Apollo's clients do, and others.
var clientHeaders = [...][2]string{
	{"Apollographql-Client-Name", "Apollographql-Client-Version"}, {"Graphql-Client-Name", "Graphql-Client-Version"},
}

// clientOf returns what a client calls itself.
func clientOf(h http.Header) (name, version string) {
	for _, of := range clientHeaders {
		if name := h.Get(of[0]); name != "" {
			return name, h.Get(of[1])
		}
	}
	return "", ""
}

// withClient returns the headers of a WebSocket with what the payload of connection_init
// calls the client: browsers cannot set headers there.
func withClient(h http.Header, payload map[string]any) http.Header {
	h = h.Clone()
	for _, of := range clientHeaders {
		for _, name := range of {
			if text, ok := payload[ascii.Lower(name)].(string); ok {
				h.Set(name, text)
			}
		}
	}
	return h
}

// count reports what an operation uses that begins to run.
func (s *Server) count(ctx context.Context, c *call) {
	if s.cfg.Count == nil {
		return
	}
	use := Use{Fields: c.uses.fields, Given: s.given(c)}
	use.Client, use.Version = clientOf(c.headers)
	s.cfg.Count(ctx, use)
}
