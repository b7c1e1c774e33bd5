package transport

import (
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// deprecatedUses are the deprecated coordinates that the text of an operation names, each
// once and in order. The document must have been validated.
func deprecatedUses(def *ast.OperationDefinition) []string {
	u := uses{found: map[string]bool{}, fragments: map[string]bool{}}
	for _, variable := range def.VariableDefinitions {
		u.value(variable.DefaultValue)
	}
	u.selections(def.SelectionSet)
	return slices.Sorted(maps.Keys(u.found))
}

// uses gathers deprecated coordinates.
type uses struct{ found, fragments map[string]bool }

func (u *uses) add(directives ast.DirectiveList, coordinate string) {
	if directives.ForName("deprecated") != nil {
		u.found[coordinate] = true
	}
}

func (u *uses) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch of := selection.(type) {
		case *ast.Field:
			u.field(of)
		case *ast.InlineFragment:
			u.selections(of.SelectionSet)
		case *ast.FragmentSpread:
			if !u.fragments[of.Name] { // else many spreads would make this work without end
				u.fragments[of.Name] = true
				u.selections(of.Definition.SelectionSet)
			}
		}
	}
}

func (u *uses) field(field *ast.Field) {
	if field.Definition != nil && field.ObjectDefinition != nil {
		coordinate := field.ObjectDefinition.Name + "." + field.Name
		u.add(field.Definition.Directives, coordinate)
		for _, argument := range field.Arguments {
			if of := field.Definition.Arguments.ForName(argument.Name); of != nil {
				u.add(of.Directives, coordinate+"("+argument.Name+":)")
			}
			u.value(argument.Value)
		}
	}
	u.selections(field.SelectionSet)
}

// value looks for input fields and enum values. Those of variables differ by request, and
// are not looked at.
func (u *uses) value(value *ast.Value) {
	if value == nil {
		return
	}
	if of := value.Definition; of != nil && value.Kind == ast.EnumValue {
		if one := of.EnumValues.ForName(value.Raw); one != nil {
			u.add(one.Directives, of.Name+"."+one.Name)
		}
	}
	for _, child := range value.Children {
		if of := value.Definition; of != nil && value.Kind == ast.ObjectValue {
			if field := of.Fields.ForName(child.Name); field != nil {
				u.add(field.Directives, of.Name+"."+field.Name)
			}
		}
		u.value(child.Value)
	}
}
