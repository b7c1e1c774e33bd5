package rest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain/ascii"
	"simgraph/domain/query"
)

// place is where a parameter stands in a request.
type place int

const (
	inPath place = iota
	inQuery
	inBody
)

// param is a variable of an operation, as a REST caller gives it.
type param struct {
	name     string
	place    place
	required bool
	// loose takes a JSON number or null for a text as well.
	loose bool
	// typeName is the name of the variable's type.
	typeName string
	// choices are the values of an enum, in lower case.
	choices []string
	// description is that of the graph's argument.
	description string
}

func (l *library) newParam(schema *ast.Schema, t template, method string, v *ast.VariableDefinition) (*param, error) {
	p := &param{
		name:     v.Variable,
		place:    inBody,
		required: v.Type.NonNull && v.DefaultValue == nil,
		loose:    l.loose[v],
		typeName: v.Type.Name(),
	}
	if _, inTemplate := t.value(make([]string, len(t)), p.name); inTemplate {
		p.place = inPath
	} else if method == "GET" {
		p.place = inQuery
	}
	for _, value := range schema.Types[p.typeName].EnumValues {
		p.choices = append(p.choices, ascii.Lower(value.Name))
	}
	return p, p.check(v)
}

// check refuses, when the program starts, what no code here can read.
func (p *param) check(v *ast.VariableDefinition) error {
	readable := v.Type.Elem == nil
	switch {
	case p.isInteger():
		readable = readable && p.place != inQuery
	case p.choices != nil:
		readable = readable && p.place == inBody
	default:
		readable = readable && p.typeName == "String"
	}
	if !readable {
		return fmt.Errorf("$%s: cannot read a %s from there", p.name, v.Type)
	}
	return nil
}

func (p *param) isInteger() bool { return p.typeName == "Int" || p.typeName == "BigInt" }

// bits is the size of the integers that the graph takes.
func (p *param) bits() int {
	if p.typeName == "Int" {
		return 32
	}
	return 64
}

// fromText reads a value of the path or the query; an error for an integer means
// that it is no id.
func (p *param) fromText(text string) (any, error) {
	if !p.isInteger() {
		return text, checkText(p.name, text)
	}
	n, err := strconv.ParseInt(text, 10, p.bits())
	if err != nil || !isID(text) {
		return nil, fmt.Errorf("%.40q is no id", text)
	}
	return n, nil
}

// fromJSON reads a value of a body; reason says what is wrong with it.
func (p *param) fromJSON(value json.Token) (v any, reason string) {
	if p.loose {
		value = loosened(value)
	}
	switch {
	case p.isInteger():
		return p.integer(value)
	case p.choices != nil:
		return p.choice(value)
	}
	text, ok := value.(string)
	if !ok {
		return nil, p.name + " must be a string"
	}
	if err := checkText(p.name, text); err != nil {
		return nil, err.Error()
	}
	return text, ""
}

// loosened takes a number for its digits and null for no text.
func loosened(value json.Token) json.Token {
	switch v := value.(type) {
	case json.Number:
		if n, ok := query.ParseInteger(v.String(), 64); ok {
			return strconv.FormatInt(n, 10)
		}
		return v.String()
	case nil:
		return ""
	default:
		return value
	}
}

func (p *param) integer(value json.Token) (v any, reason string) {
	number, ok := value.(json.Number)
	if !ok {
		return nil, p.name + " must be an integer"
	}
	n, ok := query.ParseInteger(number.String(), p.bits())
	if !ok {
		return nil, fmt.Sprintf("%s must be an integer of at most %d bits, not %.40s", p.name, p.bits(), number)
	}
	return n, ""
}

func (p *param) choice(value json.Token) (v any, reason string) {
	text, _ := value.(string)
	for _, choice := range p.choices {
		if text == choice {
			return ascii.Upper(choice), ""
		}
	}
	return nil, fmt.Sprintf("%s must be one of %s", p.name, strings.Join(p.choices, ", "))
}

func (p place) String() string { return [...]string{"path", "query", "body"}[p] }
