package transport

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// singleRootField is the rule of the specification of September 2025 (§5.2.4.1): a
// subscription has one root field in its answer, which no directive can take away.
// gqlparser's own rule compares names where answers have aliases, and lets
// directives pass; both end in an error of the executor.
func singleRootField(events *core.Events, add core.AddErrFunc) {
	events.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) {
		if op.Operation != ast.Subscription {
			return
		}
		r := rootSelections{spread: map[string]bool{}}
		r.visit(op.SelectionSet)
		for _, field := range r.fields {
			switch {
			case strings.HasPrefix(field.Name, "__"):
				add(core.Message("a subscription must not select %s at its root", field.Name), core.At(field.Position))
			case field.Alias != r.fields[0].Alias:
				add(core.Message("a subscription must select one root field, and this is the second: %s", field.Alias), core.At(field.Position))
				return
			}
		}
		for _, directive := range r.conditions {
			add(core.Message("a subscription must not have @%s at its root", directive.Name), core.At(directive.Position))
		}
	})
}

// rootSelections are what a subscription selects at its root, with its fragments.
type rootSelections struct {
	fields     []*ast.Field
	conditions []*ast.Directive
	spread     map[string]bool
}

func (r *rootSelections) visit(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			r.note(s.Directives)
			r.fields = append(r.fields, s)
		case *ast.InlineFragment:
			r.note(s.Directives)
			r.visit(s.SelectionSet)
		case *ast.FragmentSpread:
			r.note(s.Directives)
			if s.Definition != nil && !r.spread[s.Name] {
				r.spread[s.Name] = true
				r.visit(s.Definition.SelectionSet)
			}
		}
	}
}

func (r *rootSelections) note(list ast.DirectiveList) {
	for _, directive := range list {
		if directive.Name == "skip" || directive.Name == "include" {
			r.conditions = append(r.conditions, directive)
		}
	}
}
