package input

import (
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Operation is an operation whose variables can be coerced.
type Operation struct {
	checker *Checker
	def     *ast.OperationDefinition
	// required names variables that stand where null is not allowed, which
	// their type may still permit where a default stands by (spec §5.8.5).
	required map[string]bool
}

// Prepare checks the values that are written into an operation of a validated
// document, where validation is as lenient as the coercion of variables, and
// lets literals pass that make the executor panic.
func (c *Checker) Prepare(op *ast.OperationDefinition) (*Operation, gqlerror.List) {
	prepared := &Operation{checker: c, def: op, required: map[string]bool{}}
	l := literals{Checker: c, op: prepared, seen: map[string]bool{}, faults: faults{code: errcode.ValidationFailed}}
	for _, def := range op.VariableDefinitions {
		if def.DefaultValue != nil {
			where := place{name: "$" + def.Variable}
			l.value(&where, def.Type, def.DefaultValue)
		}
		l.directives(def.Directives)
	}
	l.directives(op.Directives)
	l.selections(op.SelectionSet)
	return prepared, l.found
}

type literals struct {
	*Checker
	faults
	op   *Operation
	seen map[string]bool
}

func (l *literals) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			l.arguments(s.Definition.Arguments, s.Arguments)
			l.directives(s.Directives)
			l.selections(s.SelectionSet)
		case *ast.InlineFragment:
			l.directives(s.Directives)
			l.selections(s.SelectionSet)
		case *ast.FragmentSpread:
			l.directives(s.Directives)
			if !l.seen[s.Name] {
				l.seen[s.Name] = true
				l.selections(s.Definition.SelectionSet)
			}
		}
	}
}

func (l *literals) directives(list ast.DirectiveList) {
	for _, d := range list {
		l.arguments(d.Definition.Arguments, d.Arguments)
	}
}

func (l *literals) arguments(defs ast.ArgumentDefinitionList, args ast.ArgumentList) {
	for _, arg := range args {
		where := place{name: arg.Name}
		l.value(&where, defs.ForName(arg.Name).Type, arg.Value)
	}
}

// value descends to where no variable is left, and coerces that as if it had
// come in one.
func (l *literals) value(where *place, t *ast.Type, v *ast.Value) {
	switch {
	case v.Kind == ast.Variable:
		if t.NonNull {
			l.op.required[v.Raw] = true
		}
	case !hasVariable(v):
		l.constant(where, t, v)
	case v.Kind == ast.ListValue && t.Elem != nil:
		l.at = v.Position
		if len(v.Children) > l.limits.List {
			l.add(where, "a list may have at most %d elements", l.limits.List)
		}
		for i, child := range v.Children {
			at := where.element(i)
			l.value(&at, t.Elem, child.Value)
		}
	case v.Kind == ast.ObjectValue:
		l.object(where, named(t), v)
	}
}

func (l *literals) object(where *place, t *ast.Type, v *ast.Value) {
	def := l.schema.Types[t.NamedType]
	for _, child := range v.Children {
		if field := def.Fields.ForName(child.Name); field != nil {
			at := where.field(child.Name)
			l.value(&at, field.Type, child.Value)
		}
	}
}

func (l *literals) constant(where *place, t *ast.Type, v *ast.Value) {
	l.at = v.Position
	if lossy(v) {
		l.add(where, "a text must not have half of a surrogate pair")
		return
	}
	raw, err := v.Value(nil)
	if err != nil {
		l.add(where, "a number is out of range")
		return
	}
	l.Checker.value(&l.faults, where, t, raw)
}

// named strips the lists that a single value is taken for.
func named(t *ast.Type) *ast.Type {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

func hasVariable(v *ast.Value) bool {
	if v.Kind == ast.Variable {
		return true
	}
	for _, child := range v.Children {
		if hasVariable(child.Value) {
			return true
		}
	}
	return false
}

// lossy reports a string in which the lexer may have replaced half a surrogate
// pair, which leaves no trace but the replacement character.
func lossy(v *ast.Value) bool {
	if v.Kind == ast.StringValue && strings.ContainsRune(v.Raw, '\uFFFD') {
		return loneSurrogate(v.Position.Src.Input)
	}
	for _, child := range v.Children {
		if lossy(child.Value) {
			return true
		}
	}
	return false
}
