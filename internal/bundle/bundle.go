// Package bundle reads and writes companies as text: UTF-8 NDJSON, one object a
// line, distinguished by its field "type". Usage may also come as CSV.
//
// A field that may be null may also be left out, which means null. Every other
// field must be there, except billingDay (1), timeZone ("UTC"),
// hideTariffDetails (false), imsi (""), permissions, groups (none), of a user
// disabled (as it is) and, of a profile, what has a default. Unknown fields, repeated fields, texts with lone
// surrogates and lines over a megabyte are refused. Blank lines are skipped.
//
// Lines may come in any order of types in which a line follows those that it
// names: the company before all that is in it, operators, tariffs and groups
// before subscribers, an eUICC before its profiles, subscribers before their
// tags and alerts. Usage may come before its subscriber: it waits for it.
package bundle

import "simgraph/domain"

// Item is the content of one line, checked by the rules of the domain.
type Item struct {
	Type Type
	// Company is the external id of the company that the line belongs to; ""
	// for an operator.
	Company string
	// Value has the type of the declaration of its Type; for an alert a domain.AlertSpec.
	Value any
}

// fields notes the first field that a line lacks.
type fields struct{ missing string }

// need returns the value of a field that must be there.
func need[T any](f *fields, name string, value *T) (v T) {
	if value != nil {
		return *value
	}
	if f.missing == "" {
		f.missing = name
	}
	return v
}

// check refuses a line that lacks a field or breaks a rule of the domain.
func (f *fields) check(rules func() error) error {
	if f.missing != "" {
		return domain.Invalid(f.missing, "%s is missing", f.missing)
	}
	return rules()
}

// either returns the value of a field that may be left out.
func either[T any](value *T, otherwise T) T {
	if value != nil {
		return *value
	}
	return otherwise
}
