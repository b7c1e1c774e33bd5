package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/guard"
)

// request is what a client asks, whatever it came over.
type request struct {
	query         string
	operationName string
	variables     map[string]any
	extensions    map[string]any
	headers       http.Header
}

// call is an operation with its variables: all that can be refused has been.
type call struct {
	*operation
	variables  map[string]any
	extensions map[string]any
	headers    http.Header
	cost       int
}

// find returns the operation that a request means.
func (s *Server) find(r *request) (*operation, gqlerror.List) {
	if r.query == "" && r.extensions["persistedQuery"] != nil {
		return nil, gqlerror.List{coded(CodePersisted, "PersistedQueryNotSupported")}
	}
	doc, errs := s.document(r.query)
	if len(errs) > 0 {
		return nil, errs
	}
	op, err := doc.named(r.operationName)
	if err != nil {
		return nil, gqlerror.List{err}
	}
	return op, nil
}

// admit coerces the variables of a request and books its price.
func (s *Server) admit(ctx context.Context, op *operation, r *request, limit int) (*call, gqlerror.List) {
	variables, errs := op.input.Variables(r.variables)
	if len(errs) > 0 {
		return nil, errs
	}
	cost := op.plan.Cost(variables)
	if cost > limit {
		return nil, gqlerror.List{guard.Refuse(cost, limit)}
	}
	if s.cfg.Charge != nil {
		if err := s.cfg.Charge(ctx, cost); err != nil {
			return nil, gqlerror.List{s.refusal(ctx, err)}
		}
	}
	return &call{operation: op, variables: variables, extensions: r.extensions, headers: r.headers, cost: cost}, nil
}

// Throttled refuses an operation because its caller has spent too much.
type Throttled struct {
	// RetryAfter is how long the caller should wait.
	RetryAfter time.Duration
}

func (t *Throttled) Error() string {
	return fmt.Sprintf("too many or too costly operations: try again in %d s", t.seconds())
}

// seconds rounds up, so that who waits that long has waited enough.
func (t *Throttled) seconds() int {
	return max(1, int((t.RetryAfter+time.Second-1)/time.Second))
}

func (s *Server) refusal(ctx context.Context, err error) *gqlerror.Error {
	if t, ok := errors.AsType[*Throttled](err); ok {
		fault := coded(CodeThrottled, "%s", t)
		fault.Extensions["retryAfter"] = t.seconds()
		fault.Err = t
		return fault
	}
	return s.presented(ctx, err)
}

// context returns what gqlgen wants to know of a call.
func (s *Server) context(c *call) *graphql.OperationContext {
	op := &graphql.OperationContext{
		RawQuery:               c.document.text,
		Variables:              c.variables,
		OperationName:          c.def.Name,
		Doc:                    c.document.ast,
		Extensions:             c.extensions,
		Headers:                c.headers,
		Operation:              c.def,
		RecoverFunc:            s.recovered,
		ResolverMiddleware:     resolve,
		RootResolverMiddleware: s.rootMiddleware(c.def.Operation),
		Stats:                  graphql.Stats{OperationStart: time.Now()},
	}
	if c.fields != nil {
		op.ResolverMiddleware = c.fields.Middleware(op)
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
