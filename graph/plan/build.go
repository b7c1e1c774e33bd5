package plan

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// root is the plan of what is below a root field.
type root struct {
	value *value
	// argued are the fields with arguments below; steps hold their number.
	argued []*step
}

// value is how a value goes on: a list with its items, an object with what is
// selected of it.
type value struct {
	*Shape
	item    *value
	object  *selection            // of an object
	objects map[string]*selection // of an abstract value, by type
}

// waits tells that a resolver below the value may wait.
func (v *value) waits() bool {
	if v == nil {
		return false
	}
	for _, of := range v.objects {
		if of.waits {
			return true
		}
	}
	return v.item.waits() || v.object != nil && v.object.waits
}

// selection is what is selected of an object.
type selection struct {
	steps []*step
	// concurrent is how many steps may wait, by themselves.
	concurrent int
	// waits tells that something may wait, here or below.
	waits bool
	// plain tells that no step has a resolver or something below.
	plain bool
}

// step is a field of a selection.
type step struct {
	// key is the name in the answer with quotes and colon, after a comma unless
	// it is the first; the whole text when there is no field to ask.
	key       string
	field     *Field
	collected graphql.CollectedField
	// arguments is the number of its arguments among those of the root field.
	arguments int
	value     *value
}

// builder makes the plan of a root field. It collects fields as gqlgen does.
type builder struct {
	schema *Schema
	op     *graphql.OperationContext
	argued []*step
}

// roots plans the root fields of an operation that are covered.
func (s *Schema) roots(op *graphql.OperationContext, typeName string) map[*ast.Field]*root {
	shapes := s.Roots[typeName]
	roots := map[*ast.Field]*root{}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{typeName}) {
		shape := shapes[field.Name]
		if shape == nil {
			continue
		}
		b := builder{schema: s, op: op}
		if v := b.value(shape, field.Selections); v != nil {
			roots[field.Field] = &root{value: v, argued: b.argued}
		}
	}
	return roots
}

// value returns nil for what is not covered.
func (b *builder) value(shape *Shape, set ast.SelectionSet) *value {
	v := &value{Shape: shape}
	switch shape.kind {
	case ofList:
		if v.item = b.value(shape.item, set); v.item == nil {
			return nil
		}
	case ofObject:
		if v.object = b.selection(shape.names[0], set); v.object == nil {
			return nil
		}
	case ofAbstract:
		v.objects = make(map[string]*selection, len(shape.names))
		for _, name := range shape.names {
			if v.objects[name] = b.selection(name, set); v.objects[name] == nil {
				return nil
			}
		}
	}
	return v
}

func (b *builder) selection(name string, set ast.SelectionSet) *selection {
	object := b.schema.Objects[name]
	if object == nil {
		return nil
	}
	sel := &selection{plain: true}
	seen := map[string]bool{}
	for _, field := range graphql.CollectFields(b.op, set, object.Satisfies) {
		s := b.step(name, object, field)
		if s == nil || seen[field.Alias] {
			return nil
		}
		seen[field.Alias] = true
		if len(sel.steps) > 0 {
			s.key = "," + s.key
		}
		if s.field != nil && s.field.Concurrent {
			sel.concurrent++
			sel.waits = true
		}
		sel.waits = sel.waits || s.value.waits()
		sel.plain = sel.plain && (s.field == nil || s.field.Plain != nil)
		sel.steps = append(sel.steps, s)
	}
	return sel
}

func (b *builder) step(name string, object *Object, field graphql.CollectedField) *step {
	if field.Name == "__typename" {
		return &step{key: `"` + field.Alias + `":"` + name + `"`}
	}
	s := &step{key: `"` + field.Alias + `":`, field: object.Fields[field.Name], collected: field}
	if s.field == nil || field.IsDeferred() {
		return nil
	}
	if s.field.Arguments != nil {
		s.arguments = len(b.argued)
		b.argued = append(b.argued, s)
	}
	if s.field.Shape != nil {
		if s.value = b.value(s.field.Shape, field.Selections); s.value == nil {
			return nil
		}
	}
	return s
}
