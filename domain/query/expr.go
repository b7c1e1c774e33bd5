// Package query holds the filter and order languages of the lists (spec §8).
//
// A filter is a tree of comparisons under and, or and not. It comes from the text
// of a REST parameter (ParseFilter) or from typed inputs (Compare, All, Any, Not,
// then Check); both endpoints give the same tree, and one compiler turns it into SQL.
//
// # Meaning
//
// Comparisons are two-valued: each is true or false of a row, and not is plain
// negation. Where the field is null,
//
//   - eq null is true, ne null is false;
//   - eq with a value is false, ne with a value is true;
//   - in is true only where null is one of the values;
//   - gt, ge, lt, le and like are false.
//
// Ordered comparison with the value null is false for every row.
//
// A date alone means that whole UTC day: eq is within the day and ne outside it
// (also true of null), gt is from its end on, ge from its start on, lt before its
// start, le before its end. A date-time is one instant.
//
// like is a case-insensitive search for a piece of text in which % and _ stand for
// themselves. Texts order by code point.
//
// # Masked fields
//
// A row may hide a field from the caller. Every comparison with that field is then
// unknown, which not leaves unknown; the row is listed only where the rest of the
// filter alone makes it true (Kleene's logic). So neither a filter nor its negation
// would reveal the hidden value.
package query

import "strings"

// Expr is a filter: And, Or, Not or Comparison. The nil Expr lets every row pass.
type Expr interface {
	// String returns the canonical text, which parses to the same tree; that of
	// an empty Or, which texts cannot write, is "false".
	String() string
	// weigh adds up what Check bounds; nested is the depth above this node.
	weigh(w *weight, nested int)
}

// And is true where all of its parts are. Make it with All.
type And []Expr

// Or is true where one of its parts is, so of no row when it has none. Make it with
// Any.
type Or []Expr

// Not is true where its part is false.
type Not struct{ Expr Expr }

// Comparison compares a field with a value; in has one value or more, every other
// operator exactly one. Make it with Compare.
type Comparison struct {
	Field  Field
	Op     Op
	Values []Value
}

// All returns the filter that demands every given one. A nil among them demands
// nothing; without any demand the result is nil.
func All(exprs ...Expr) Expr {
	var all And
	for _, e := range exprs {
		if nested, ok := e.(And); ok {
			all = append(all, nested...)
		} else if e != nil {
			all = append(all, e)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// Any returns the filter that demands one of the given. A nil among them is true of
// every row, so the result is nil. Any of nothing is true of no row.
func Any(exprs ...Expr) Expr {
	var anyOf Or
	for _, e := range exprs {
		if e == nil {
			return nil
		}
		if nested, ok := e.(Or); ok {
			anyOf = append(anyOf, nested...)
		} else {
			anyOf = append(anyOf, e)
		}
	}
	if len(anyOf) == 1 {
		return anyOf[0]
	}
	return anyOf
}

func (e And) String() string { return join(e, " and ") }

func (e Or) String() string {
	if len(e) == 0 {
		return "false"
	}
	return join(e, " or ")
}

func (e Not) String() string {
	switch e.Expr.(type) {
	case And, Or:
		return "not (" + e.Expr.String() + ")"
	}
	return "not " + e.Expr.String()
}

func (e Comparison) String() string {
	values := make([]string, len(e.Values))
	for i, v := range e.Values {
		values[i] = v.text(e.Field.Type)
	}
	list := strings.Join(values, ", ")
	if e.Op == In {
		list = "(" + list + ")"
	}
	return e.Field.Name + " " + string(e.Op) + " " + list
}

// join prints the parts of an And or Or; an Or within an And needs parentheses.
func join(exprs []Expr, word string) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = e.String()
		if _, ok := e.(Or); ok {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, word)
}
