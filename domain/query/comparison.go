package query

import (
	"fmt"
	"strings"
)

// Op is an operator as the filter language writes it.
type Op string

// The operators of spec §8, with those that its wording leaves open.
const (
	Eq   Op = "eq"
	Ne   Op = "ne"
	Gt   Op = "gt"
	Ge   Op = "ge"
	Lt   Op = "lt"
	Le   Op = "le"
	Like Op = "like"
	In   Op = "in"
)

const operators = "eq, ne, gt, ge, lt, le, like or in"

// findOp reads an operator in any case.
func findOp(word string) (Op, bool) {
	switch op := Op(strings.ToLower(word)); op {
	case Eq, Ne, Gt, Ge, Lt, Le, Like, In:
		return op, true
	}
	return "", false
}

// refuses returns why the operator cannot apply to the field; "" when it can.
func (f Field) refuses(op Op) string {
	switch op {
	case Eq, Ne, In:
		return ""
	case Like:
		if f.Type == Text {
			return ""
		}
		return fmt.Sprintf("like is for text, and %s is of type %s", f.Name, f.Type)
	}
	if f.Type == Boolean || f.Type == Tags {
		return fmt.Sprintf("%s has no order: it takes eq, ne and in", f.Name)
	}
	return ""
}

// Compare returns the comparison of a field, found by name or alias, with values
// that a typed input holds: string, int, int32, int64, float64, bool, time.Time, or
// nil for null. The type of the field decides how they are read, as in ParseFilter.
// The error is a *SyntaxError without column. Check bounds the filter as a whole.
func Compare(fields Fields, name string, op Op, values ...any) (Expr, error) {
	refuse := func(token, reason string) error {
		return &SyntaxError{Token: clip(token), Reason: reason, Allowed: fields.filterNames()}
	}
	field, ok := fields.Find(name)
	if !ok {
		return nil, refuse(name, "no such field")
	}
	if _, ok := findOp(string(op)); !ok {
		return nil, refuse(string(op), "an operator is expected: "+operators)
	}
	if reason := field.refuses(op); reason != "" {
		return nil, refuse(string(op), reason)
	}
	if len(values) == 0 || op != In && len(values) > 1 {
		return nil, refuse(string(op), "in takes one value or more, every other operator one")
	}
	read := make([]Value, len(values))
	for i, literal := range values {
		var reason string
		if read[i], reason = field.value(op, literal); reason != "" {
			return nil, refuse(fmt.Sprint(literal), reason)
		}
	}
	return Comparison{Field: field, Op: op, Values: read}, nil
}

// value reads a literal, nil for null, for the operator on this field.
func (f Field) value(op Op, literal any) (v Value, reason string) {
	if literal == nil && op == Like {
		return Value{}, `like needs a text; write "null" to search for that word`
	}
	return newValue(f.Type, literal)
}
