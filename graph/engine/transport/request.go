package transport

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/guard"
	"simgraph/graph/plan"
	"simgraph/internal/held"
)

// request is what a client sends, whatever it came over.
type request struct {
	query         string
	documentID    string
	operationName string
	variables     map[string]any
	extensions    map[string]any
	headers       http.Header
	// body is what this was read from; nil where it has no room of its own.
	body *held.Reader
}

// call is an operation with its variables: all that can be refused has been.
type call struct {
	*operation
	variables map[string]any
	headers   http.Header
	cost      int
	// leave ends the turn of the operation.
	leave func()
}

// find returns the operation that a request means.
func (s *Server) find(ctx context.Context, r *request) (*operation, gqlerror.List) {
	op, errs := s.lookup(ctx, r)
	if len(errs) > 0 {
		s.observeRefused(ctx, nil, errs)
	}
	return op, errs
}

func (s *Server) lookup(ctx context.Context, r *request) (*operation, gqlerror.List) {
	text, fault := s.text(ctx, r)
	if fault != nil {
		return nil, gqlerror.List{fault}
	}
	doc, errs := s.document(text)
	if len(errs) > 0 {
		return nil, errs
	}
	op, err := doc.named(r.operationName)
	if err != nil {
		return nil, gqlerror.List{err}
	}
	return op, nil
}

// admit coerces the variables of a request, books its price and waits for its
// turn, which ends with the call's leave.
func (s *Server) admit(ctx context.Context, op *operation, r *request, limit int) (*call, gqlerror.List) {
	c, errs := s.check(ctx, op, r, limit)
	if len(errs) > 0 {
		s.observeRefused(ctx, op, errs)
	}
	return c, errs
}

func (s *Server) check(ctx context.Context, op *operation, r *request, limit int) (*call, gqlerror.List) {
	variables, errs := op.input.Variables(r.variables)
	if len(errs) > 0 {
		return nil, errs
	}
	cost := op.price.Cost(variables)
	if cost > limit {
		return nil, gqlerror.List{guard.Refuse(cost, limit)}
	}
	if s.cfg.Charge != nil {
		if err := s.cfg.Charge(ctx, cost); err != nil {
			return nil, gqlerror.List{s.refusal(ctx, err)}
		}
	}
	leave, fault := s.enter(ctx, op.def.Operation)
	if fault != nil {
		return nil, gqlerror.List{fault}
	}
	return &call{operation: op, variables: variables, headers: r.headers, cost: cost, leave: leave}, nil
}

// context returns what gqlgen wants to know of a call.
func (s *Server) context(c *call) *graphql.OperationContext {
	op := &graphql.OperationContext{
		RawQuery:               c.document.text,
		Variables:              c.variables,
		OperationName:          c.def.Name,
		Doc:                    c.document.ast,
		Headers:                c.headers,
		Operation:              c.def,
		RecoverFunc:            s.recovered,
		ResolverMiddleware:     resolve,
		RootResolverMiddleware: s.rootMiddleware(c.def.Operation),
		Stats:                  graphql.Stats{OperationStart: time.Now()},
	}
	if c.fields != nil && !s.cfg.Unplanned {
		op.ResolverMiddleware = plan.Middleware
	}
	return op
}

// resolve is no middleware: anything here would run for every field.
func resolve(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

func resolveRoot(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

func (s *Server) rootMiddleware(kind ast.Operation) graphql.RootFieldMiddleware {
	after := s.cfg.AfterRootMutationField
	if kind != ast.Mutation || after == nil {
		return resolveRoot
	}
	return func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		defer after(ctx)
		return next(ctx)
	}
}
