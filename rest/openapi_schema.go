package rest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// scalars are the JSON forms of the graph's scalars; one that is not here
// is an object whose description states its form.
var scalars = map[string]object{
	"String":   {"type": "string"},
	"ID":       {"type": "string"},
	"Int":      {"type": "integer", "format": "int32"},
	"Float":    {"type": "number"},
	"Boolean":  {"type": "boolean"},
	"DateTime": {"type": "string", "format": "date-time"},
	"BigInt":   {"type": "string", "pattern": "^-?[0-9]+$"},
}

var (
	decimal = object{"type": "string", "pattern": "^[0-9]+$"}
	byTime  = object{"type": "object", "additionalProperties": decimal}
)

// usageMaps are the values of the objects whose keys are data, by the field that has one.
var usageMaps = map[string]object{
	"mobileOriginated": decimal, "mobileTerminated": decimal, "sessions": decimal,
	"usage": byTime, "subscriberDataUsage": byTime,
	"dataUsageByIp": {
		"type": "object", "required": []string{"lastSeen", "bytes"},
		"properties": object{"lastSeen": object{"type": "string", "format": "date-time", "description": "The end of its last record, but within the span."}, "bytes": decimal},
	},
}

// limits of parameters, which the domain checks.
var limits = map[string]object{
	"physicalId":     {"minLength": 1, "maxLength": domain.MaxPhysicalID},
	"nickname":       {"maxLength": domain.MaxNickname},
	"tagName":        {"minLength": 1, "maxLength": domain.MaxTagName},
	"name":           {"minLength": 1, "maxLength": domain.MaxName},
	"lowerThreshold": {"minimum": 0},
	"upperThreshold": {"minimum": 0},
	"email":          {"format": "email"},
}

// ordered is an object whose properties are shown in the documented order.
type ordered []property

type property struct {
	name  string
	value any
}

// MarshalJSON keeps the order.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		b = append(append(strconv.AppendQuote(b, p.name), ':'), value...)
	}
	return append(b, '}'), nil
}

// schema is what a caller may send for the parameter.
func (p *param) schema() object {
	s := object{"type": "string"}
	switch {
	case p.isInteger():
		s = object{"type": "integer", "format": map[int]string{32: "int32", 64: "int64"}[p.bits()]}
	case p.choices != nil:
		s["enum"] = p.choices
	case p.loose:
		s["type"] = []string{"string", "null"} // a number is taken as well, but generators of clients read no such union
	}
	if p.isInteger() && p.place == inPath {
		s["minimum"] = 1
	}
	maps.Copy(s, limits[p.name])
	return s
}

func (e *endpoint) bodySchema() object {
	properties, required := ordered{}, []string{}
	for _, p := range e.params {
		if p.place != inBody {
			continue
		}
		s := p.schema()
		s["description"] = p.description
		properties = append(properties, property{p.name, s})
		if p.required {
			required = append(required, p.name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// value is the schema of a field as the marks let it be written.
func (d *describer) value(o *outline) object {
	t := o.definition.Type
	if o.absent || o.empty || o.body || onlyWithError(o.definition) {
		t = nonNull(t)
	}
	s := d.typed(o, t)
	if o.one {
		s = object{"type": "array", "items": s, "minItems": 1, "maxItems": 1}
	}
	if _, isReference := s["$ref"]; !isReference {
		s["description"] = o.definition.Description
		if o.empty {
			s["description"] = o.definition.Description + " Empty for none."
		}
	}
	return s
}

// onlyWithError reports whether the field is null only together with an error,
// which answers the whole path.
func onlyWithError(field *ast.FieldDefinition) bool {
	return field.Directives.ForName("semanticNonNull") != nil
}

func nonNull(t *ast.Type) *ast.Type {
	strict := *t
	strict.NonNull = true
	return &strict
}

func (d *describer) typed(o *outline, t *ast.Type) object {
	var s object
	switch {
	case t.Elem != nil:
		s = object{"type": "array", "items": d.typed(o, t.Elem)}
	case len(o.fields) > 0:
		s = d.fields(o)
	default:
		s = d.leaf(o, d.schema.Types[t.NamedType])
	}
	if t.NonNull {
		return s
	}
	return orNull(s)
}

// orNull lets a value be null as well.
func orNull(s object) object {
	name, simple := s["type"].(string)
	if !simple {
		return object{"anyOf": []any{s, object{"type": "null"}}}
	}
	s["type"] = []string{name, "null"}
	if values, ok := s["enum"].([]any); ok {
		s["enum"] = append(values, nil)
	}
	return s
}

// fields describes an object, once for all places of the same fragment.
func (d *describer) fields(o *outline) object {
	if o.fragment == "" {
		return d.object(o)
	}
	if d.schemas[o.fragment] == nil {
		d.schemas[o.fragment] = d.object(o)
	}
	return object{"$ref": "#/components/schemas/" + o.fragment}
}

func (d *describer) object(o *outline) object {
	properties, required := ordered{}, []string{}
	for _, field := range o.fields {
		properties = append(properties, property{field.key, d.value(field)})
		if !field.absent {
			required = append(required, field.key)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

func (d *describer) leaf(o *outline, definition *ast.Definition) object {
	switch {
	case o.number:
		return object{"type": "integer", "format": "int64"}
	case definition.Kind == ast.Enum:
		return object{"type": "string", "enum": enumValues(o, definition)}
	}
	if s, known := scalars[definition.Name]; known {
		return maps.Clone(s)
	}
	if values, known := usageMaps[o.definition.Name]; known {
		return object{"type": "object", "title": definition.Name, "additionalProperties": values}
	}
	return object{"type": "object", "title": definition.Name}
}

func enumValues(o *outline, definition *ast.Definition) []any {
	var values []any
	for _, value := range definition.EnumValues {
		name := value.Name
		if o.lower {
			name = ascii.Lower(name)
		}
		values = append(values, name)
	}
	return slices.Clip(values)
}
