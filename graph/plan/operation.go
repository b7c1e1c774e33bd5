package plan

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Operation keeps the plans of an operation of a validated document: one, or
// one for each combination of the variables that @skip and @include read.
type Operation struct {
	schema   *Schema
	typeName string
	switches []string

	mu    sync.Mutex
	plans map[string]map[*ast.Field]*root
}

// mostPlans bounds the plans that an operation keeps.
const mostPlans = 16

// New returns the plans of a query or mutation of the document.
func New(schema *Schema, doc *ast.QueryDocument, def *ast.OperationDefinition) *Operation {
	o := &Operation{schema: schema, typeName: "Query", plans: map[string]map[*ast.Field]*root{}}
	if def.Operation == ast.Mutation {
		o.typeName = "Mutation"
	}
	o.switches = switches(doc, def)
	return o
}

// Middleware is a graphql.ResolverMiddleware for one response: it resolves root
// fields as they are, and answers what is below by the plan.
func (o *Operation) Middleware(op *graphql.OperationContext) graphql.FieldMiddleware {
	roots := sync.OnceValue(func() map[*ast.Field]*root { return o.of(op) })
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		v, err := next(ctx)
		if err != nil || v == nil {
			return v, err
		}
		if root := roots()[graphql.GetFieldContext(ctx).Field.Field]; root != nil {
			return root.marshaler(ctx, op, v), nil
		}
		return v, nil
	}
}

// of returns the plan for the operation's variables.
func (o *Operation) of(op *graphql.OperationContext) map[*ast.Field]*root {
	key := make([]byte, len(o.switches))
	for i, name := range o.switches {
		if op.Variables[name] == true {
			key[i] = 1
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, ok := o.plans[string(key)]; ok {
		return known
	}
	made := o.schema.roots(op, o.typeName)
	if len(o.plans) < mostPlans {
		o.plans[string(key)] = made
	}
	return made
}

// marshaler answers a value. The errors go to the response, as gqlgen's do.
func (r *root) marshaler(ctx context.Context, op *graphql.OperationContext, v any) graphql.Marshaler {
	w := newWriter(ctx, op, r)
	top := &frame{writer: w}
	top.made.Store(graphql.GetFieldContext(ctx))
	ok := w.value(top, r.value, v)
	w.report()
	if !ok {
		release(w.buf)
		return graphql.Null
	}
	return written(w.buf)
}

// switches names the variables that decide which fields are selected.
func switches(doc *ast.QueryDocument, def *ast.OperationDefinition) []string {
	s := switchboard{}
	s.visit(def.SelectionSet)
	for _, fragment := range doc.Fragments {
		s.visit(fragment.SelectionSet)
	}
	return s.names
}

type switchboard struct{ names []string }

func (s *switchboard) visit(set ast.SelectionSet) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			s.note(sel.Directives)
			s.visit(sel.SelectionSet)
		case *ast.InlineFragment:
			s.note(sel.Directives)
			s.visit(sel.SelectionSet)
		case *ast.FragmentSpread:
			s.note(sel.Directives)
		}
	}
}

func (s *switchboard) note(directives ast.DirectiveList) {
	for _, directive := range directives {
		for _, arg := range directive.Arguments {
			if arg.Value.Kind == ast.Variable {
				s.names = append(s.names, arg.Value.Raw)
			}
		}
	}
}
