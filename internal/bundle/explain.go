package bundle

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
)

// explain words an error of the JSON decoder for who wrote the line.
func explain(err error) error {
	var value *json.SemanticError
	if errors.As(err, &value) {
		return explainValue(value)
	}
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return err
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return domain.Invalid(fieldOf(syntax.JSONPointer), "the field %q is there twice", fieldOf(syntax.JSONPointer))
	}
	reason := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	return domain.Invalid("", "no valid JSON: %s at byte %d", reason, syntax.ByteOffset+1)
}

func explainValue(err *json.SemanticError) error {
	field := fieldOf(err.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return domain.Invalid(field, "unknown field %q", field)
	case field == "":
		return domain.Invalid("", "a JSON object is expected")
	}
	return domain.Invalid(field, "%s: %s is expected, not %s", field, wanted(err.GoType), found(err))
}

// fieldOf names the field at a JSON pointer: parent.physicalId, groups.0.
func fieldOf(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	return clip(strings.Join(names, "."))
}

// clip shortens a text of the line for an error.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

func wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a whole number of 64 bits"
}

func found(err *json.SemanticError) string {
	switch err.JSONKind {
	case '"':
		return "a text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	if len(err.JSONValue) > 0 && len(err.JSONValue) < 40 {
		return string(err.JSONValue)
	}
	return "this number"
}
