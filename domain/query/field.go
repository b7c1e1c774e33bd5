package query

import (
	"fmt"
	"slices"
)

// Type is what the values of a field are. It decides how a literal is read and
// which operators apply.
type Type int

const (
	// Text compares by code point and takes every operator.
	Text Type = iota
	// Integer holds whole numbers of 64 bits.
	Integer
	// Number holds decimals of up to 38 digits, without exponent.
	Number
	// Boolean takes eq, ne and in.
	Boolean
	// Time holds moments, to the microsecond.
	Time
	// Set holds texts: eq tests whether it has the text, ne whether it lacks it,
	// in whether it has any of them. It is never null.
	Set
)

func (t Type) String() string {
	return [...]string{"text", "integer", "number", "boolean", "time", "set"}[t]
}

// Field is a name that callers may filter and order by.
type Field struct {
	// Name is the public name, dotted where the object nests
	// ("networkState.isOnline").
	Name string
	Type Type
	// Aliases are further names that mean this field; errors never list them.
	Aliases []string
	// NFC brings the values of a Text or Set into that form, in which the field is kept.
	NFC bool
	// Values are all values that an enumerated Text can have, as it is stored; nil
	// where it can have any. eq, ne and in take no other.
	Values []string
	// NoOrder keeps the field out of orderBy. Sets never order.
	NoOrder bool
	// Doc describes the field to callers; "" where the object has a field of that name,
	// whose description is that of this one, too.
	Doc string
}

// Unordered returns the field without an order: one that no index has, in a list that
// can grow without bounds.
func (f Field) Unordered() Field {
	f.NoOrder = true
	return f
}

// Enumerated returns the field with the values of its type.
func Enumerated[T ~string](name string, values []T) Field {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return Field{Name: name, Type: Text, Values: texts}
}

// Ordered reports whether a list can be ordered by the field.
func (f Field) Ordered() bool { return !f.NoOrder && f.Type != Set }

// Fields is the catalogue of one list: what its rows can be filtered and ordered by.
type Fields struct {
	list   []Field
	byName map[string]Field
}

// NewFields returns the catalogue of the given fields, which errors list in this
// order. It panics when two of them share a name or alias: a catalogue is
// written in code, never by a caller.
func NewFields(list ...Field) Fields {
	byName := make(map[string]Field, len(list))
	for _, field := range list {
		for _, name := range append([]string{field.Name}, field.Aliases...) {
			if _, taken := byName[name]; taken {
				panic(fmt.Sprintf("query: two fields are named %q", name))
			}
			byName[name] = field
		}
	}
	return Fields{list: slices.Clone(list), byName: byName}
}

// Find returns the field of that name or alias; the case of letters matters.
func (f Fields) Find(name string) (Field, bool) {
	field, ok := f.byName[name]
	return field, ok
}

// All returns the fields in the order of the catalogue.
func (f Fields) All() []Field { return slices.Clone(f.list) }

// names lists the fields that keep selects, without aliases.
func (f Fields) names(keep func(Field) bool) []string {
	names := make([]string, 0, len(f.list))
	for _, field := range f.list {
		if keep(field) {
			names = append(names, field.Name)
		}
	}
	return names
}

func (f Fields) filterNames() []string { return f.names(func(Field) bool { return true }) }

func (f Fields) orderNames() []string { return f.names(Field.Ordered) }
