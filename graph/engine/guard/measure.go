package guard

import (
	"fmt"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Codes of the errors of this package.
const (
	CodeDocumentLimit = "DOCUMENT_LIMIT_EXCEEDED"
	CodeCostLimit     = "COST_LIMIT_EXCEEDED"
)

// Measure refuses a document that exceeds a limit or whose fragments spread
// themselves. It looks at each selection once, however often the fragment
// around it is spread, and needs no schema.
func Measure(doc *ast.QueryDocument, limits Limits) *gqlerror.Error {
	m := meter{fragments: make(map[string]*fragment, len(doc.Fragments))}
	for _, def := range doc.Fragments {
		// The first of equal names is the one that validation goes by.
		if m.fragments[def.Name] == nil {
			m.fragments[def.Name] = &fragment{def: def}
		}
	}
	if err := m.document(doc); err != nil {
		return err
	}
	if err := m.exceeds(doc, limits); err != nil {
		return err
	}
	return m.overlap(doc, limits)
}

// Exceeded returns the error for a document that has more than it may.
func Exceeded(what string, got, limit int) *gqlerror.Error {
	err := gqlerror.Errorf("the document has too many %s: %d, the limit is %d", what, got, limit)
	errcode.Set(err, CodeDocumentLimit)
	return err
}

// extent is what a selection set holds once its fragments are spread.
type extent struct {
	depth, nesting, selections, aliases, introspection int
	// width counts the fields that meet in the set itself, level the most that
	// meet in any set below.
	width, level int
}

// most keeps sums from overflowing: a doubling fragment exceeds any integer.
const most = 1 << 30

func add(a, b int) int { return min(a+b, most) }

// join adds what lies beside, in the same selection set.
func (e *extent) join(o extent) {
	e.depth = max(e.depth, o.depth)
	e.nesting = max(e.nesting, o.nesting)
	e.level = max(e.level, o.level)
	e.selections = add(e.selections, o.selections)
	e.aliases = add(e.aliases, o.aliases)
	e.introspection = add(e.introspection, o.introspection)
	e.width = add(e.width, o.width)
}

type fragment struct {
	def        *ast.FragmentDefinition
	extent     extent
	open, done bool
}

// meter holds what was counted so far over the whole document.
type meter struct {
	fragments  map[string]*fragment
	total      extent
	unused     []*ast.FragmentDefinition
	rootFields int
	directives int
	values     int
}

func (m *meter) document(doc *ast.QueryDocument) *gqlerror.Error {
	for _, op := range doc.Operations {
		m.directive(op.Directives)
		for _, v := range op.VariableDefinitions {
			m.directive(v.Directives)
			m.value(v.DefaultValue, 1)
		}
		e, err := m.set(op.SelectionSet)
		if err != nil {
			return err
		}
		m.rootFields = max(m.rootFields, e.width)
		m.total.join(e)
	}
	for _, def := range doc.Fragments {
		m.directive(def.Directives)
		if f := m.fragments[def.Name]; f.def == def && f.done {
			continue
		}
		// What no operation spreads is validated all the same.
		m.unused = append(m.unused, def)
		e, err := m.set(def.SelectionSet)
		if err != nil {
			return err
		}
		m.total.join(e)
	}
	return nil
}

func (m *meter) set(set ast.SelectionSet) (extent, *gqlerror.Error) {
	var e extent
	for _, selection := range set {
		s, err := m.selection(selection)
		if err != nil {
			return e, err
		}
		e.join(s)
	}
	e.nesting = add(e.nesting, 1)
	e.level = max(e.level, e.width)
	return e, nil
}

func (m *meter) selection(selection ast.Selection) (e extent, err *gqlerror.Error) {
	switch s := selection.(type) {
	case *ast.Field:
		e, err = m.field(s)
	case *ast.InlineFragment:
		m.directive(s.Directives)
		e, err = m.set(s.SelectionSet)
	case *ast.FragmentSpread:
		m.directive(s.Directives)
		e, err = m.spread(s)
	}
	e.selections = add(e.selections, 1)
	return e, err
}

func (m *meter) field(f *ast.Field) (extent, *gqlerror.Error) {
	m.directive(f.Directives)
	m.arguments(f.Arguments)
	e, err := m.set(f.SelectionSet)
	e.depth = add(e.depth, 1)
	e.width = 1
	if f.Alias != f.Name {
		e.aliases = add(e.aliases, 1)
	}
	if f.Name == "__schema" || f.Name == "__type" {
		e.introspection = add(e.introspection, 1)
	}
	return e, err
}

func (m *meter) spread(s *ast.FragmentSpread) (extent, *gqlerror.Error) {
	f := m.fragments[s.Name]
	switch {
	case f == nil: // validation names it
		return extent{}, nil
	case f.done:
		return f.extent, nil
	case f.open:
		err := gqlerror.ErrorPosf(s.Position, "Cannot spread fragment %q within itself.", s.Name)
		errcode.Set(err, errcode.ValidationFailed)
		return extent{}, err
	}
	f.open = true
	e, err := m.set(f.def.SelectionSet)
	f.extent, f.done = e, err == nil
	return e, err
}

func (m *meter) directive(list ast.DirectiveList) {
	m.directives += len(list)
	for _, d := range list {
		m.arguments(d.Arguments)
	}
}

func (m *meter) arguments(list ast.ArgumentList) {
	for _, a := range list {
		m.value(a.Value, 1)
	}
}

func (m *meter) value(v *ast.Value, nesting int) {
	if v == nil {
		return
	}
	m.values = max(m.values, nesting)
	for _, child := range v.Children {
		m.value(child.Value, nesting+1)
	}
}

func (m *meter) exceeds(doc *ast.QueryDocument, limits Limits) *gqlerror.Error {
	variables := 0
	for _, op := range doc.Operations {
		variables += len(op.VariableDefinitions)
	}
	for _, c := range []struct {
		what       string
		got, limit int
	}{
		{"levels of fields", m.total.depth, limits.Depth},
		{"levels of selections", m.total.nesting, limits.Nesting},
		{"levels in a value", m.values, limits.Nesting},
		{"selections", m.total.selections, limits.Selections},
		{"fields in one selection set", m.total.level, limits.Level},
		{"aliases", m.total.aliases, limits.Aliases},
		{"root fields", m.rootFields, limits.RootFields},
		{"introspection fields", m.total.introspection, limits.Introspection},
		{"directives", m.directives, limits.Directives},
		{"variables", variables, limits.Variables},
		{"fragments", len(doc.Fragments), limits.Fragments},
	} {
		if c.got > c.limit {
			return Exceeded(c.what, c.got, c.limit)
		}
	}
	return nil
}

// overlap walks the document as it is once fragments are spread, which the
// limit of selections has made affordable.
func (m *meter) overlap(doc *ast.QueryDocument, limits Limits) *gqlerror.Error {
	if limits.Overlap == most {
		return nil
	}
	met := map[meeting]int{}
	for _, op := range doc.Operations {
		m.meet(met, op.SelectionSet, 0)
	}
	for _, def := range m.unused {
		m.meet(met, def.SelectionSet, 0)
	}
	pairs := 0
	for _, n := range met {
		pairs += n * n
	}
	if pairs > limits.Overlap {
		return Exceeded("fields of equal names", pairs, limits.Overlap)
	}
	return nil
}

// meeting is where fields of equal names may come together.
type meeting struct {
	depth int
	name  string
}

func (m *meter) meet(met map[meeting]int, set ast.SelectionSet, depth int) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			met[meeting{depth, s.Alias}]++
			m.meet(met, s.SelectionSet, depth+1)
		case *ast.InlineFragment:
			m.meet(met, s.SelectionSet, depth)
		case *ast.FragmentSpread:
			if f := m.fragments[s.Name]; f != nil {
				m.meet(met, f.def.SelectionSet, depth)
			}
		}
	}
}

// Refuse returns the error for an operation whose price is above the limit.
func Refuse(cost, limit int) *gqlerror.Error {
	err := &gqlerror.Error{Message: fmt.Sprintf(
		"the operation costs %d, the limit is %d: ask for shorter lists (first) or fewer nested ones", cost, limit)}
	errcode.Set(err, CodeCostLimit)
	return err
}
