package domain

import (
	"reflect"
	"time"

	"simgraph/domain/ascii"
)

// FieldSet is a set of the fields of a Subscriber and its Relations that a caller
// reads. The others may be left zero, but never Key and PhysicalID.
type FieldSet uint64

// The relations of a subscriber that can be read together with it.
const (
	FieldGroup FieldSet = 1 << (60 + iota)
	FieldTariff
	FieldTags
	FieldDataUsage
	// FieldWithoutProfiles is whether the subscriber has no profiles.
	FieldWithoutProfiles FieldSet = 1 << 59

	// RelationFields has all Relations.
	RelationFields = FieldGroup | FieldTariff | FieldTags | FieldDataUsage | FieldWithoutProfiles
	// AllFields has all fields of a Subscriber, but not its Relations.
	AllFields = ^RelationFields
)

// fieldBits are the fields of Subscriber and Relations by their names in lower case.
var fieldBits = func() map[string]FieldSet {
	bits := map[string]FieldSet{"group": FieldGroup, "tariff": FieldTariff, "tags": FieldTags, "datausage": FieldDataUsage,
		"withoutprofiles": FieldWithoutProfiles}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[Subscriber]()) {
		bits[ascii.Lower(field.Name)] = 1 << i
	}
	return bits
}()

// FieldNamed returns the set of the one field with that name, in any case; false
// when a Subscriber has none.
func FieldNamed(name string) (FieldSet, bool) {
	one, ok := fieldBits[ascii.Lower(name)]
	return one, ok
}

// Has reports whether one of the fields is in the set.
func (s FieldSet) Has(fields FieldSet) bool { return s&fields != 0 }

// Projection is what a caller reads of subscribers.
type Projection struct {
	Fields FieldSet
	// PeriodStart begins the billing period of FieldDataUsage, in UTC.
	PeriodStart time.Time
}
