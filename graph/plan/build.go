package plan

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// roots are the plans of the root fields of an operation that are covered.
type roots struct {
	of map[*ast.Field]*root
	// needs are those of all fields; all bits are set when a root field is not covered.
	needs uint64
}

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
	// loads reports whether a relation is selected of the value or below.
	loads bool
}

// selection is what is selected of an object.
type selection struct {
	steps []*step
	// loads reports whether there is a relation among the steps or below.
	loads bool
	// plain reports whether no step has a resolver or something below.
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
	// leads reports whether a relation is selected below the step.
	leads bool
}

// builder makes the plan of a root field. It collects fields as gqlgen does.
type builder struct {
	schema *Schema
	op     *graphql.OperationContext
	argued []*step
	needs  uint64
}

// roots plans the root fields of an operation.
func (s *Schema) roots(op *graphql.OperationContext, typeName string) *roots {
	planned := &roots{of: map[*ast.Field]*root{}}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{typeName}) {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		b := builder{schema: s, op: op}
		if v := b.root(s.Roots[typeName][field.Name], field.Selections); v != nil {
			planned.of[field.Field] = &root{value: v, argued: b.argued}
			planned.needs |= b.needs
		} else {
			planned.needs = allNeeds
		}
	}
	return planned
}

func (b *builder) root(shape *Shape, set ast.SelectionSet) *value {
	if shape == nil {
		return nil
	}
	return b.value(shape, set)
}

// value returns nil for what is not covered.
func (b *builder) value(shape *Shape, set ast.SelectionSet) *value {
	v := &value{Shape: shape}
	switch shape.kind {
	case ofList:
		if v.item = b.value(shape.item, set); v.item == nil {
			return nil
		}
		v.loads = v.item.loads
	case ofObject:
		if v.object = b.selection(shape.names[0], set); v.object == nil {
			return nil
		}
		v.loads = v.object.loads
	case ofAbstract:
		v.objects = make(map[string]*selection, len(shape.names))
		for _, name := range shape.names {
			if v.objects[name] = b.selection(name, set); v.objects[name] == nil {
				return nil
			}
			v.loads = v.loads || v.objects[name].loads
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
		sel.loads = sel.loads || s.leads || s.field != nil && s.field.Relation != nil
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
	b.needs |= s.field.Needs
	if s.field.Arguments != nil {
		s.arguments = len(b.argued)
		b.argued = append(b.argued, s)
	}
	if s.field.Shape != nil {
		if s.value = b.value(s.field.Shape, field.Selections); s.value == nil {
			return nil
		}
		s.leads = s.value.loads
	}
	return s
}
