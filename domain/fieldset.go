package domain

import (
	"reflect"
	"strings"
)

// FieldSet is a set of the fields of a Subscriber that a caller reads. The others
// may be left zero, but never Key and PhysicalID.
type FieldSet uint64

// AllFields has all fields of a Subscriber.
const AllFields = ^FieldSet(0)

// fieldBits are the fields of Subscriber by their names in lower case.
var fieldBits = func() map[string]FieldSet {
	fields := reflect.VisibleFields(reflect.TypeFor[Subscriber]())
	bits := make(map[string]FieldSet, len(fields))
	for i, field := range fields {
		bits[strings.ToLower(field.Name)] = 1 << i
	}
	return bits
}()

// FieldNamed returns the set of the one field with that name, in any case; false
// when a Subscriber has none.
func FieldNamed(name string) (FieldSet, bool) {
	one, ok := fieldBits[strings.ToLower(name)]
	return one, ok
}

// Has reports whether one of the fields is in the set.
func (s FieldSet) Has(fields FieldSet) bool { return s&fields != 0 }
