package input

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain/query"
)

// Variables coerces the raw variables of the operation: what a JSON decoder
// yields (with or without UseNumber) or plain Go values of the same kinds.
// Undeclared variables are dropped; raw is not changed.
func (o *Operation) Variables(raw map[string]any) (map[string]any, gqlerror.List) {
	coerced := make(map[string]any, len(o.def.VariableDefinitions))
	f := faults{code: Code}
	for _, def := range o.def.VariableDefinitions {
		f.at = def.Position
		where := place{name: "$" + def.Variable}
		v, given := raw[def.Variable]
		if !given && def.DefaultValue != nil {
			// Prepare has proven that it can be read.
			v, _ = def.DefaultValue.Value(nil)
			given = true
		}
		switch {
		case given && v == nil && o.required[def.Variable]:
			f.add(&where, "must not be null")
		case given:
			coerced[def.Variable] = o.checker.value(&f, &where, def.Type, v)
		case def.Type.NonNull:
			f.add(&where, "a value is required")
		}
	}
	return coerced, f.found
}

func (c *Checker) value(f *faults, where *place, t *ast.Type, v any) any {
	switch {
	case v == nil:
		if t.NonNull {
			f.add(where, "must not be null")
		}
		return nil
	case t.Elem != nil:
		return c.list(f, where, t.Elem, v)
	}
	def := c.schema.Types[t.NamedType]
	switch def.Kind {
	case ast.Enum:
		return c.enum(f, where, def, v)
	case ast.InputObject:
		return c.object(f, where, def, v)
	default:
		return c.scalar(f, where, def.Name, v)
	}
}

// list takes a single value for the list that holds it (spec §3.11).
func (c *Checker) list(f *faults, where *place, elem *ast.Type, v any) any {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) > c.limits.List {
		f.add(where, "a list may have at most %d elements", c.limits.List)
		return nil
	}
	coerced := make([]any, len(list))
	for i, v := range list {
		at := where.element(i)
		if !ok {
			at = *where
		}
		coerced[i] = c.value(f, &at, elem, v)
	}
	return coerced
}

func (c *Checker) enum(f *faults, where *place, def *ast.Definition, v any) any {
	name, ok := v.(string)
	if !ok {
		f.add(where, "expected a value of %s, got %s", def.Name, kind(v))
		return nil
	}
	if def.EnumValues.ForName(name) == nil {
		f.add(where, "not a value of %s", def.Name)
	}
	return name
}

func (c *Checker) object(f *faults, where *place, def *ast.Definition, v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		f.add(where, "expected an object %s, got %s", def.Name, kind(v))
		return nil
	}
	c.unknown(f, where, def, object)
	coerced := make(map[string]any, len(object))
	for _, field := range def.Fields {
		at := where.field(field.Name)
		v, given := object[field.Name]
		switch {
		case given:
			coerced[field.Name] = c.value(f, &at, field.Type, v)
		case field.Type.NonNull && field.DefaultValue == nil:
			f.add(&at, "a value is required")
		}
	}
	if isOneOf(def) {
		oneOf(f, where, coerced)
	}
	return coerced
}

// unknown names the keys that the input type does not have, in stable order.
func (c *Checker) unknown(f *faults, where *place, def *ast.Definition, object map[string]any) {
	var names []string
	for name := range object {
		if def.Fields.ForName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		f.add(where, "%s has no field %.100q", def.Name, name)
	}
}

func isOneOf(def *ast.Definition) bool { return def.Directives.ForName("oneOf") != nil }

func oneOf(f *faults, where *place, object map[string]any) {
	if len(object) != 1 {
		f.add(where, "exactly one field must be given")
		return
	}
	for name, v := range object {
		if v == nil {
			at := where.field(name)
			f.add(&at, "must not be null")
		}
	}
}

func (c *Checker) scalar(f *faults, where *place, name string, v any) any {
	switch name {
	case "Int":
		return number(f, where, v, "a whole number of 32 bits", asInt)
	case "Float":
		return number(f, where, v, "a finite number", asFloat)
	case "Boolean":
		if _, ok := v.(bool); !ok {
			f.add(where, "expected a boolean, got %s", kind(v))
		}
		return v
	case "ID":
		if n, ok := asID(v); ok {
			return n
		}
		fallthrough
	case "String":
		return c.text(f, where, v)
	default:
		return c.custom(f, where, name, v)
	}
}

func (c *Checker) text(f *faults, where *place, v any) any {
	text, ok := v.(string)
	if !ok {
		f.add(where, "expected a string, got %s", kind(v))
	} else if fault := c.textFault(text); fault != "" {
		f.add(where, "%s", fault)
	}
	return v
}

func (c *Checker) custom(f *faults, where *place, name string, v any) any {
	if check := c.scalars[name]; check != nil {
		if err := check(v); err != nil {
			f.add(where, "%s", err)
			return v
		}
	}
	c.bounded(f, where, v)
	return v
}

// bounded applies the limits to a value that the schema does not describe.
func (c *Checker) bounded(f *faults, where *place, v any) {
	switch v := v.(type) {
	case string:
		c.text(f, where, v)
	case []any:
		if len(v) > c.limits.List {
			f.add(where, "a list may have at most %d elements", c.limits.List)
			return
		}
		for i, v := range v {
			at := where.element(i)
			c.bounded(f, &at, v)
		}
	case map[string]any:
		for name, v := range v {
			at := where.field(name)
			c.text(f, where, name)
			c.bounded(f, &at, v)
		}
	}
}

func number[T any](f *faults, where *place, v any, expected string, as func(any) (T, bool)) any {
	n, ok := as(v)
	if !ok {
		f.add(where, "expected %s, got %s", expected, received(v))
	}
	return n
}

// longestReceived is enough for a number that people write.
const longestReceived = 40

// received is the number where one was given, of another kind than expected, or else
// what the value is.
func received(v any) string {
	what := kind(v)
	if what != aNumber {
		return what
	}
	if text := fmt.Sprint(v); len(text) <= longestReceived {
		return text
	}
	return what
}

// asInt takes 1.0 and 1e0 for 1, which are the same number in JSON.
func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case json.Number:
		return query.ParseInteger(string(v), 32)
	case float64:
		return int64(v), v == math.Trunc(v) && v >= math.MinInt32 && v <= math.MaxInt32
	}
	n, ok := asInteger(v)
	return n, ok && n >= math.MinInt32 && n <= math.MaxInt32
}

func asInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int:
		return int64(v), true
	default:
		return 0, false
	}
}

func asFloat(v any) (float64, bool) {
	if x, ok := v.(float64); ok {
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	if n, ok := v.(json.Number); ok {
		x, err := strconv.ParseFloat(string(n), 64)
		return x, err == nil
	}
	n, ok := asInteger(v)
	return float64(n), ok
}

// asID takes whole numbers of any length for their decimal digits; of 4.0 the
// specification of GraphQL wants a refusal (§3.5.5).
func asID(v any) (string, bool) {
	if n, ok := v.(json.Number); ok && strings.Trim(string(n), "-0123456789") == "" {
		return string(n), true
	}
	n, ok := asInteger(v)
	return strconv.FormatInt(n, 10), ok
}

const aNumber = "a number"

// kind names what a value is in the words of JSON, never those of Go.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case json.Number, float64, int64, int32, int:
		return aNumber
	default:
		return "another kind of value"
	}
}
