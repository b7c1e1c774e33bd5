package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// schemaChange is a difference between two schemas.
type schemaChange struct {
	// at is the schema coordinate, such as Query.users or Query.users(first:).
	at       string
	what     string
	breaking bool
}

func (c schemaChange) String() string {
	if c.breaking {
		return "breaking: " + c.at + " " + c.what
	}
	return "safe: " + c.at + " " + c.what
}

// schemaDiff collects what changed, in the order of the coordinates.
type schemaDiff struct{ changes []schemaChange }

// diffSchemas returns what clients of the schema before notice of the one after.
// Breaking is what can make a valid document invalid, or an answer one that its
// generated types do not expect.
func diffSchemas(before, after *ast.Schema) []schemaChange {
	var d schemaDiff
	for _, name := range slices.Sorted(maps.Keys(before.Types)) {
		old, now := before.Types[name], after.Types[name]
		switch {
		case old.BuiltIn:
		case now == nil:
			d.add(true, name, "was removed")
		case old.Kind != now.Kind:
			d.add(true, name, "became another kind of type")
		default:
			d.definition(old, now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.Types)) {
		if before.Types[name] == nil {
			d.add(false, name, "was added")
		}
	}
	return d.changes
}

func (d *schemaDiff) add(breaking bool, at, what string) {
	d.changes = append(d.changes, schemaChange{at, what, breaking})
}

func (d *schemaDiff) definition(old, now *ast.Definition) {
	isInput := old.Kind == ast.InputObject
	for _, field := range old.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		at := old.Name + "." + field.Name
		if found := now.Fields.ForName(field.Name); found == nil {
			d.add(true, at, "was removed")
		} else {
			d.typed(at, field.Type, found.Type, isInput)
			d.arguments(at, field.Arguments, found.Arguments)
		}
	}
	for _, field := range now.Fields {
		if old.Fields.ForName(field.Name) == nil {
			required := isInput && field.Type.NonNull && field.DefaultValue == nil
			d.add(required, old.Name+"."+field.Name, "was added")
		}
	}
	for _, value := range old.EnumValues {
		if now.EnumValues.ForName(value.Name) == nil {
			d.add(true, old.Name+"."+value.Name, "was removed")
		}
	}
	for _, value := range now.EnumValues {
		if old.EnumValues.ForName(value.Name) == nil {
			d.add(false, old.Name+"."+value.Name, "was added")
		}
	}
	for _, name := range old.Interfaces {
		if !slices.Contains(now.Interfaces, name) {
			d.add(true, old.Name, "is no "+name+" any more")
		}
	}
}

func (d *schemaDiff) arguments(of string, old, now ast.ArgumentDefinitionList) {
	for _, argument := range old {
		at := of + "(" + argument.Name + ":)"
		if found := now.ForName(argument.Name); found == nil {
			d.add(true, at, "was removed")
		} else {
			d.typed(at, argument.Type, found.Type, true)
		}
	}
	for _, argument := range now {
		if old.ForName(argument.Name) == nil {
			d.add(argument.Type.NonNull && argument.DefaultValue == nil, of+"("+argument.Name+":)", "was added")
		}
	}
}

// typed compares types: what is given may take more, what is answered may be less.
func (d *schemaDiff) typed(at string, old, now *ast.Type, given bool) {
	if old.String() == now.String() {
		return
	}
	fits := covers(old, now)
	if given {
		fits = covers(now, old)
	}
	d.add(!fits, at, "was "+old.String()+" and is "+now.String())
}

// covers reports whether every value of the narrow type is one of the wide type.
func covers(wide, narrow *ast.Type) bool {
	if wide.NonNull && !narrow.NonNull || (wide.Elem == nil) != (narrow.Elem == nil) {
		return false
	}
	if wide.Elem != nil {
		return covers(wide.Elem, narrow.Elem)
	}
	return wide.NamedType == narrow.NamedType
}
