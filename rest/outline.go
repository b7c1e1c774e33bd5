package rest

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// outline is the shape of a response: the fields of an object in the order in
// which the executor writes them, with their marks.
type outline struct {
	key string
	marks
	fields []*outline
	// definition is what the schema says of the field; nil for the root.
	definition *ast.FieldDefinition
	// fragment names the one fragment that makes up all the fields; "" for
	// others.
	fragment string
	// plain values are copied as they are. found is the way to a mark that is
	// looked for around the body.
	plain, found bool
}

// newOutline reads the shape of an operation's response.
func (l *library) newOutline(operation *ast.OperationDefinition) (*outline, error) {
	root := &outline{}
	if err := l.outlineSet(root, operation.SelectionSet); err != nil {
		return nil, err
	}
	root.settle()
	return root, nil
}

func (l *library) outlineSet(o *outline, set ast.SelectionSet) error {
	for _, selection := range set {
		var err error
		switch s := selection.(type) {
		case *ast.Field:
			err = l.outlineField(o, s)
		case *ast.InlineFragment:
			err = l.outlineSet(o, s.SelectionSet)
		case *ast.FragmentSpread:
			err = l.outlineSet(o, s.Definition.SelectionSet)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *library) outlineField(o *outline, f *ast.Field) error {
	for _, other := range o.fields {
		if other.key == f.Alias {
			return fmt.Errorf("the field %q is selected twice", f.Alias)
		}
	}
	field := &outline{key: f.Alias, marks: l.marks[f], definition: f.Definition}
	if len(f.SelectionSet) == 1 {
		if spread, ok := f.SelectionSet[0].(*ast.FragmentSpread); ok {
			field.fragment = spread.Name
		}
	}
	o.fields = append(o.fields, field)
	return l.outlineSet(field, f.SelectionSet)
}

// settle works out plain and found, from the leaves up.
func (o *outline) settle() {
	o.plain = !o.empty && !o.number && !o.lower
	o.found = o.body || o.total || o.more || o.next
	for _, field := range o.fields {
		field.settle()
		o.plain = o.plain && field.plain && !field.absent && !field.one
		o.found = o.found || field.found
	}
}

// count returns how many fields carry a mark.
func (o *outline) count(mark func(marks) bool) int {
	n := 0
	if mark(o.marks) {
		n++
	}
	for _, field := range o.fields {
		n += field.count(mark)
	}
	return n
}

// findBody returns the field that is the answer; nil when there is none.
func (o *outline) findBody() *outline {
	if o.body {
		return o
	}
	for _, field := range o.fields {
		if body := field.findBody(); body != nil {
			return body
		}
	}
	return nil
}

// field returns the outline of the key, which most likely is the one at hint.
func (o *outline) field(key []byte, hint int) *outline {
	if hint < len(o.fields) && o.fields[hint].key == string(key) {
		return o.fields[hint]
	}
	for _, field := range o.fields {
		if field.key == string(key) {
			return field
		}
	}
	return nil
}
