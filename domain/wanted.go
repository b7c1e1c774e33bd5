package domain

import (
	"reflect"
	"strings"
)

// Wanted is the set of the fields of a Subscriber that a caller will look at.
// The others may be left zero, but never Key and PhysicalID.
type Wanted uint64

// Everything wants all fields. It is the zero value of Wanted.
const Everything Wanted = 0

// wantable are the fields of Subscriber by their names in lower case.
var wantable = func() map[string]Wanted {
	fields := reflect.VisibleFields(reflect.TypeFor[Subscriber]())
	bits := make(map[string]Wanted, len(fields))
	for i, field := range fields {
		bits[strings.ToLower(field.Name)] = 1 << i
	}
	return bits
}()

// Want returns the set of the one field with that name, in any case; false when
// a Subscriber has none.
func Want(field string) (Wanted, bool) {
	if one, ok := wantable[field]; ok {
		return one, true
	}
	one, ok := wantable[strings.ToLower(field)]
	return one, ok
}

// Any tells whether one of the fields is wanted.
func (w Wanted) Any(fields Wanted) bool { return w == Everything || w&fields != 0 }
