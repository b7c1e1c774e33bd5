package query

import (
	"fmt"

	"simgraph/domain/ascii"
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
	switch op := Op(ascii.Lower(word)); op {
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
	if f.Type == Boolean || f.Type == Set {
		return fmt.Sprintf("%s has no order: it takes eq, ne and in", f.Name)
	}
	return ""
}

// Compare returns the comparison of a field, found by name or alias, with values
// that a typed input holds: string, int, int32, int64, float64, bool, time.Time, or
// nil for null. The type of the field decides how they are read, as in ParseFilter.
// In without a value is true of no row. The error is a *SyntaxError without column.
// Check bounds the filter as a whole.
func Compare(fields Fields, name string, op Op, values ...any) (Expr, error) {
	field, ok := fields.Find(name)
	if !ok {
		return nil, &SyntaxError{Token: clip(name), Reason: "no such field", Allowed: fields.filterNames()}
	}
	refuse := func(token, reason string) error { return &SyntaxError{Token: clip(token), Reason: reason} }
	if _, ok := findOp(string(op)); !ok {
		return nil, refuse(string(op), "an operator is expected: "+operators)
	}
	if reason := field.refuses(op); reason != "" {
		return nil, refuse(string(op), reason)
	}
	switch {
	case op == In && len(values) == 0:
		return Any(), nil
	case op != In && len(values) != 1:
		return nil, refuse(string(op), "one value is expected")
	case op == Like && values[0] == nil:
		return nil, refuse("null", "a text is expected, not null")
	}
	read := make([]Value, len(values))
	for i, literal := range values {
		var reason string
		if read[i], reason = field.newValue(op, literal); reason != "" {
			return nil, refuse(literalToken(literal), reason)
		}
	}
	return Comparison{Field: field, Op: op, Values: read}, nil
}

// literalToken prints a literal for an error.
func literalToken(literal any) string {
	if literal == nil {
		return "null"
	}
	return fmt.Sprint(literal)
}
