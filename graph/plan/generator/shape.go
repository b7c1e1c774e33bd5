package main

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// shape is the Go expression of a *plan.Shape; "" when a type has none.
func shape(ref *config.TypeReference) string {
	if ref.IsPtrToSlice() || ref.IsPtrToIntf() || ref.IsPtrToPtr() || ref.IsRoot {
		return ""
	}
	nonNull := ref.GQL.NonNull
	switch {
	case ref.IsSlice():
		return listShape(ref)
	case isLeaf(ref):
		if appendFunc(ref) == "" {
			return ""
		}
		return fmt.Sprintf("plan.Leaf(%t, %s)", nonNull, appendFunc(ref))
	case ref.Definition.Kind == ast.Object:
		return objectShape(ref)
	default:
		name := ref.Definition.Name
		return fmt.Sprintf("plan.Abstract(%t, objectsOf%s, objectOf%s)", nonNull, name, name)
	}
}

func listShape(ref *config.TypeReference) string {
	item := ref.Elem()
	if !item.IsSlice() && isLeaf(item) {
		if appendFunc(item) == "" {
			return ""
		}
		return fmt.Sprintf("plan.Leaves(%t, %t, %s)", ref.GQL.NonNull, item.GQL.NonNull, appendFunc(item))
	}
	inner := shape(item)
	if inner == "" {
		return ""
	}
	return fmt.Sprintf("plan.List[%s](%t, %s)", goType(item.GO), ref.GQL.NonNull, inner)
}

func objectShape(ref *config.TypeReference) string {
	constructor, of := "Value", ref.GO
	if pointer, is := ref.GO.(*types.Pointer); is {
		constructor, of = "Pointer", pointer.Elem()
	} else if ref.IsNilable() {
		return ""
	}
	return fmt.Sprintf("plan.%s[%s](%t, %q)", constructor, goType(of), ref.GQL.NonNull, ref.Definition.Name)
}

func goType(t types.Type) string { return templates.CurrentImports.LookupType(t) }

// isLeaf reports scalars and enums whose Go value has its own type. A nil in an
// interface does not.
func isLeaf(ref *config.TypeReference) bool {
	return ref.Definition.IsLeafType() && !ref.IsSlice()
}

// appendFunc names the function that appends a leaf; "" when gqlgen must write.
func appendFunc(ref *config.TypeReference) string {
	if written(ref, "v") == "" || types.IsInterface(ref.GO) {
		return ""
	}
	return "append" + strings.TrimPrefix(ref.MarshalFunc(), "marshal")
}

// leaf is a function that appends values of one type reference.
type leaf struct {
	Name, Type, Append string
	// Null is the condition of a value that is null; "" for none.
	Null string
}

// leaves are the leaves that fields need, each once.
func leaves(data *codegen.Data) []leaf {
	var found []leaf
	seen := map[string]bool{}
	for _, object := range planned(data.Objects) {
		for _, f := range object.Fields {
			ref := f.TypeReference
			for ref.IsSlice() {
				ref = ref.Elem()
			}
			if name := leafName(ref); name != "" && !seen[name] {
				seen[name] = true
				found = append(found, leaf{name, goType(ref.GO), written(ref, "v"), nullWhen(ref)})
			}
		}
	}
	return found
}

// nullWhen is the condition under which a leaf v is null; "" for never.
func nullWhen(ref *config.TypeReference) string {
	switch {
	case ref.IsNilable():
		return "v == nil"
	case nullWhenEmpty(ref):
		return `v == ""`
	}
	return ""
}

// nullWhenEmpty reports a nullable leaf of which Go keeps a text, "" for none.
func nullWhenEmpty(ref *config.TypeReference) bool {
	basic, is := ref.GO.Underlying().(*types.Basic)
	return is && basic.Kind() == types.String && !ref.GQL.NonNull && ref.Marshaler != nil
}

func leafName(ref *config.TypeReference) string {
	if !isLeaf(ref) {
		return ""
	}
	return appendFunc(ref)
}

// builtin are the appending functions for gqlgen's own marshalers.
var builtin = map[string]string{
	"MarshalString":       "plan.AppendString(b, %s), true",
	"MarshalID":           "plan.AppendString(b, %s), true",
	"MarshalBoolean":      "plan.AppendBoolean(b, %s), true",
	"MarshalInt":          "plan.AppendInt(b, %s), true",
	"MarshalInt32":        "plan.AppendInt(b, %s), true",
	"MarshalInt64":        "plan.AppendInt(b, %s), true",
	"MarshalFloatContext": "plan.AppendFloat(b, %s), true",
}

// written is what appends v to b: as gqlgen's template does, with a function
// AppendX where there is one beside MarshalX.
func written(ref *config.TypeReference, v string) string {
	if ref.IsMarshaler {
		if ref.IsContext {
			return ""
		}
		return "plan.Marshal(b, " + v + ")"
	}
	if ref.Marshaler == nil {
		return ""
	}
	marshaler := ref.Marshaler
	v = passed(ref, v)
	if marshaler.Pkg().Path() == "github.com/99designs/gqlgen/graphql" && builtin[marshaler.Name()] != "" {
		return fmt.Sprintf(builtin[marshaler.Name()], v)
	}
	if ref.IsContext {
		return ""
	}
	sibling := "Append" + strings.TrimPrefix(marshaler.Name(), "Marshal")
	if appending, is := marshaler.Pkg().Scope().Lookup(sibling).(*types.Func); is {
		return templates.Call(appending) + "(b, " + v + "), true"
	}
	return "plan.Marshal(b, " + templates.Call(marshaler) + "(" + v + "))"
}

// passed is the value as the marshaler takes it.
func passed(ref *config.TypeReference, v string) string {
	switch {
	case ref.IsTargetNilable() && !ref.IsNilable():
		v = "&" + v
	case !ref.IsTargetNilable() && ref.IsNilable():
		v = "*" + v
	}
	switch {
	case ref.HasEnumValues():
		return ref.EnumMarshalVar(false) + "[" + v + "]"
	case ref.CastType != nil:
		return goType(ref.CastType) + "(" + v + ")"
	}
	return v
}
