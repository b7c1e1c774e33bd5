package plan

import (
	"fmt"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// Shape is how a Go value is read as a value of a type of the schema.
type Shape struct {
	nonNull bool
	kind    kind
	// names are the object types that the value, or the items, may have.
	names []string
	// open takes a value as a resolver returns it to what the rest works on: a
	// pointer for objects; nil is null, and false means that the Go type is wrong.
	open func(v any) (any, bool)
	// want prints the Go type that open takes.
	want func() string
	// leaf appends an opened leaf.
	leaf func(b []byte, v any) ([]byte, bool)
	// leaves appends an opened list of leaves, and returns how many are null.
	leaves func(b []byte, v any) ([]byte, int)
	// concrete returns the object of an opened abstract value and its type.
	concrete func(v any) (string, any)
	item     *Shape
	length   func(v any) int
	// at opens an item of an opened list.
	at func(v any, i int) any
	// deref opens what a pointer points to.
	deref func(p any) any
}

type kind int

const (
	ofLeaf kind = iota
	ofLeaves
	ofObject
	ofAbstract
	ofList
)

func shape[T any](kind kind, nonNull bool, open func(T) any) *Shape {
	return &Shape{
		kind:    kind,
		nonNull: nonNull,
		open: func(v any) (any, bool) {
			t, ok := v.(T)
			if !ok {
				return nil, v == nil
			}
			return open(t), true
		},
		deref: func(p any) any { return open(*p.(*T)) },
		want:  func() string { var t T; return fmt.Sprintf("%T", t) },
	}
}

// Leaf is a scalar or an enum; appending false means null.
func Leaf[T any](nonNull bool, appendTo func([]byte, T) ([]byte, bool)) *Shape {
	s := shape(ofLeaf, nonNull, func(v T) any { return v })
	s.leaf = func(b []byte, v any) ([]byte, bool) { return appendTo(b, v.(T)) }
	return s
}

// Leaves is a list of scalars or enums.
func Leaves[T any](nonNull, nonNullItems bool, appendTo func([]byte, T) ([]byte, bool)) *Shape {
	s := shape(ofLeaves, nonNull, list[T](nonNull))
	s.item = &Shape{nonNull: nonNullItems}
	s.leaves = func(b []byte, v any) ([]byte, int) { return appendLeaves(b, v.([]T), appendTo) }
	return s
}

func appendLeaves[T any](b []byte, items []T, appendTo func([]byte, T) ([]byte, bool)) ([]byte, int) {
	nulls := 0
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendTo(b, item); !ok {
			b = append(b, null...)
			nulls++
		}
	}
	return append(b, ']'), nulls
}

// Pointer is an object that resolvers return by its pointer.
func Pointer[T any](nonNull bool, name string) *Shape {
	s := shape(ofObject, nonNull, func(v *T) any {
		if v == nil {
			return nil
		}
		return v
	})
	s.names = []string{name}
	return s
}

// Value is an object that resolvers return itself.
func Value[T any](nonNull bool, name string) *Shape {
	s := shape(ofObject, nonNull, func(v T) any { return &v })
	s.deref = func(p any) any { return p }
	s.names = []string{name}
	return s
}

// Abstract is an interface or a union of the named objects. concrete returns
// which one a value is; for a typed nil that is "" and nil.
func Abstract[T any](nonNull bool, names []string, concrete func(T) (string, any)) *Shape {
	s := shape(ofAbstract, nonNull, func(v T) any { return v })
	s.names = names
	s.concrete = func(v any) (string, any) { return concrete(v.(T)) }
	return s
}

// List is a list of objects, abstract values or lists.
func List[T any](nonNull bool, item *Shape) *Shape {
	s := shape(ofList, nonNull, list[T](nonNull))
	s.names = item.names
	s.item = item
	s.length = func(v any) int { return len(v.([]T)) }
	s.at = func(v any, i int) any { return item.deref(&v.([]T)[i]) }
	return s
}

// list opens lists. As with gqlgen, one that must not be null is empty instead.
func list[T any](nonNull bool) func([]T) any {
	return func(v []T) any {
		if v == nil && !nonNull {
			return nil
		}
		return v
	}
}

// Marshal appends what gqlgen's marshaler of a scalar writes.
func Marshal(b []byte, m graphql.Marshaler) ([]byte, bool) {
	if m == nil || m == graphql.Marshaler(graphql.Null) {
		return b, false
	}
	w := appender(b)
	m.MarshalGQL(&w)
	return w, true
}

type appender []byte

var _ io.StringWriter = (*appender)(nil)

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

func (a *appender) WriteString(s string) (int, error) {
	*a = append(*a, s...)
	return len(s), nil
}
