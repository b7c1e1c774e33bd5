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
	plans map[string]*roots
}

// mostPlans bounds the plans that an operation keeps.
const mostPlans = 16

// New returns the plans of a query or mutation of the document.
func New(schema *Schema, doc *ast.QueryDocument, def *ast.OperationDefinition) *Operation {
	o := &Operation{schema: schema, typeName: "Query", plans: map[string]*roots{}}
	if def.Operation == ast.Mutation {
		o.typeName = "Mutation"
	}
	o.switches = switches(doc, def)
	return o
}

type planKey struct{}

// WithPlan puts the plan into the context of a response, which has that of the
// operation.
func (o *Operation) WithPlan(ctx context.Context) context.Context {
	return context.WithValue(ctx, planKey{}, o.rootsFor(graphql.GetOperationContext(ctx)))
}

// allNeeds are the needs of what is not planned.
const allNeeds = ^uint64(0)

// Needs returns what all the selected fields of the operation need together; all
// bits are set when not all of it is planned.
func Needs(ctx context.Context) uint64 {
	if planned, ok := ctx.Value(planKey{}).(*roots); ok {
		return planned.needs
	}
	return allNeeds
}

// Middleware is a graphql.ResolverMiddleware for responses with a plan: it
// resolves root fields as they are, and answers what is below by the plan.
func Middleware(ctx context.Context, next graphql.Resolver) (any, error) {
	v, err := next(ctx)
	if err != nil || v == nil {
		return v, err
	}
	planned := ctx.Value(planKey{}).(*roots)
	if root := planned.of[graphql.GetFieldContext(ctx).Field.Field]; root != nil {
		return root.marshaler(ctx, v), nil
	}
	return v, nil
}

// rootsFor returns the plan for the operation's variables.
func (o *Operation) rootsFor(op *graphql.OperationContext) *roots {
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
func (r *root) marshaler(ctx context.Context, v any) graphql.Marshaler {
	w := newWriter(ctx, graphql.GetOperationContext(ctx), r)
	top := &frame{writer: w}
	top.made.Store(graphql.GetFieldContext(ctx))
	ok := w.root(top, r.value, v)
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
