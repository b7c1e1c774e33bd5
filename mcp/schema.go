package mcp

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// object is a JSON Schema, or a part of one.
type object = map[string]any

// scalars are the JSON types of the scalars in answers; all others are strings.
var scalars = map[string]string{"Int": "integer", "Float": "number", "Boolean": "boolean", "UsageMap": "object", "_Any": "object"}

// inputSchema derives the arguments of a tool from the variables of its operation. It takes
// no others.
func inputSchema(schema *ast.Schema, operation *ast.OperationDefinition) object {
	described := descriptions{}
	described.read(operation.SelectionSet)
	definitions, properties, required := object{}, object{}, []string{}
	for _, v := range operation.VariableDefinitions {
		property := inputType(schema, definitions, v.Type)
		if text := described[v.Variable]; text != "" {
			property["description"] = text
		}
		if v.DefaultValue != nil {
			property["default"], _ = v.DefaultValue.Value(nil) // a constant
		}
		properties[v.Variable] = property
		if v.Type.NonNull && v.DefaultValue == nil {
			required = append(required, v.Variable)
		}
	}
	input := object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if len(definitions) > 0 {
		input["$defs"] = definitions
	}
	return input
}

// inputType is the schema of a value that a variable takes; input objects go into
// definitions once.
func inputType(schema *ast.Schema, definitions object, t *ast.Type) object {
	if t.Elem != nil {
		return object{"type": "array", "items": inputType(schema, definitions, t.Elem)}
	}
	of := schema.Types[t.NamedType]
	switch {
	case of.Kind == ast.Enum:
		return object{"type": "string", "enum": valuesOf(of)}
	case of.Kind == ast.InputObject:
		define(schema, definitions, of)
		return object{"$ref": "#/$defs/" + of.Name}
	case of.Name == "BigInt":
		return object{"type": []string{"integer", "string"}}
	default:
		return object{"type": typeOf(of)}
	}
}

func define(schema *ast.Schema, definitions object, of *ast.Definition) {
	if definitions[of.Name] != nil {
		return
	}
	properties := object{}
	definition := object{"type": "object", "properties": properties, "additionalProperties": false}
	definitions[of.Name] = definition
	for _, field := range of.Fields {
		property := inputType(schema, definitions, field.Type)
		property["description"] = field.Description
		properties[field.Name] = property
	}
}

// outputSchema derives the structured content of a tool from the selection of its operation.
func outputSchema(schema *ast.Schema, operation *ast.OperationDefinition) object {
	return selected(schema, operation.SelectionSet)
}

func selected(schema *ast.Schema, set ast.SelectionSet) object {
	properties, required := object{}, []string{}
	for _, field := range fieldsOf(set) {
		properties[field.Alias] = outputType(schema, field, field.Definition.Type)
		if len(field.Directives) == 0 { // @skip and @include
			required = append(required, field.Alias)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// outputType is the schema of a field in answers. What may be null is said so.
func outputType(schema *ast.Schema, field *ast.Field, t *ast.Type) object {
	var value object
	of := schema.Types[t.Name()]
	switch {
	case t.Elem != nil:
		value = object{"type": "array", "items": outputType(schema, field, t.Elem)}
	case of.IsCompositeType():
		value = selected(schema, field.SelectionSet)
	default:
		value = object{"type": typeOf(of)}
	}
	if !t.NonNull {
		value["type"] = []any{value["type"], "null"}
	}
	return value
}

func typeOf(of *ast.Definition) string {
	if name, is := scalars[of.Name]; is {
		return name
	}
	return "string"
}

func valuesOf(of *ast.Definition) []string {
	values := make([]string, len(of.EnumValues))
	for i, value := range of.EnumValues {
		values[i] = value.Name
	}
	return values
}

// descriptions are those of the arguments and input fields that the variables fill, by the
// variable.
type descriptions map[string]string

func (d descriptions) read(set ast.SelectionSet) {
	for _, field := range fieldsOf(set) {
		for _, argument := range field.Arguments {
			d.value(field.Definition.Arguments.ForName(argument.Name).Description, argument.Value)
		}
		d.read(field.SelectionSet)
	}
}

func (d descriptions) value(description string, value *ast.Value) {
	if value.Kind == ast.Variable {
		d[value.Raw] = description
		return
	}
	for _, child := range value.Children {
		if value.Kind == ast.ObjectValue {
			d.value(value.Definition.Fields.ForName(child.Name).Description, child.Value)
		}
	}
}
