package transport

import (
	"context"
	"errors"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/guard"
)

// execute runs a query or mutation.
func (s *Server) execute(ctx context.Context, c *call) *graphql.Response {
	if c.def.Operation == ast.Query && s.cfg.Alternate != nil {
		if a := s.cfg.Alternate(ctx); a != nil {
			if resp := s.executeAlternate(ctx, c, a); resp != nil {
				return resp
			}
		}
	}
	return s.executeOn(ctx, c, s.schema, s.responseContext)
}

// executeOn is where an operation becomes a response.
func (s *Server) executeOn(ctx context.Context, c *call, schema graphql.ExecutableSchema, responseContext func(context.Context) context.Context) (resp *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			resp = &graphql.Response{Data: null, Errors: gqlerror.List{s.presented(ctx, s.recovered(ctx, r))}}
		}
	}()
	ctx = graphql.WithOperationContext(ctx, s.context(c))
	if c.fields != nil {
		ctx = c.fields.WithPlan(ctx)
	}
	ctx = responseContext(ctx)
	return s.finish(ctx, schema.Exec(ctx)(ctx))
}

// null is the data of many responses: nothing can be appended to it.
var null = slices.Clip([]byte("null"))

// trusted are the limits of documents that come with the program.
var trusted = guard.Unlimited()

// responseContext begins a response: its errors, its loaders.
func (s *Server) responseContext(ctx context.Context) context.Context {
	if s.cfg.PerResponse != nil {
		ctx = s.cfg.PerResponse(ctx)
	}
	return graphql.WithResponseContext(ctx, s.presenter(), s.recovered)
}

// finish adds to a response what was gathered in its context.
func (s *Server) finish(ctx context.Context, resp *graphql.Response) *graphql.Response {
	if resp == nil {
		return nil
	}
	if errs := graphql.GetErrors(ctx); len(errs) > 0 {
		resp.Errors = append(resp.Errors, errs...)
	}
	if extensions := graphql.GetExtensions(ctx); len(extensions) > 0 {
		resp.Extensions = extensions
	}
	return resp
}

// subscribe starts a subscription. The handler yields nil after the last
// event, and when ctx ends; a response's data is valid until the next call.
func (s *Server) subscribe(ctx context.Context, c *call) (next graphql.ResponseHandler, errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil {
			next, errs = nil, gqlerror.List{s.presented(ctx, s.recovered(ctx, r))}
		}
	}()
	ctx = graphql.WithOperationContext(ctx, s.context(c))
	start := graphql.WithResponseContext(ctx, s.presenter(), s.recovered)
	events := s.schema.Exec(start)
	if errs := graphql.GetErrors(start); len(errs) > 0 {
		return nil, errs
	}
	ended, within := false, withinRoot(ctx, c)
	return func(context.Context) *graphql.Response {
		resp := s.event(within(ctx), events)
		if resp == nil && !ended {
			ended = true
			resp = lastWords(ctx, start)
		}
		return resp
	}, nil
}

// lastWords are the errors that a resolver added to the context that it was
// started with before it closed its events: they explain why there are no more.
func lastWords(ctx, start context.Context) *graphql.Response {
	errs := graphql.GetErrors(start)
	if len(errs) == 0 || ctx.Err() != nil {
		return nil
	}
	return &graphql.Response{Data: null, Errors: errs}
}

func (s *Server) event(ctx context.Context, events graphql.ResponseHandler) (resp *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			resp = &graphql.Response{Data: null, Errors: gqlerror.List{s.presented(ctx, s.recovered(ctx, r))}}
		}
	}()
	if ctx.Err() != nil {
		return nil
	}
	ctx = s.responseContext(ctx)
	return s.finish(ctx, events(ctx))
}

// Run executes an operation of the program itself in process. Variables are plain values of
// the kinds that JSON has; ints may be int, int32 or int64. A response without data is one
// of an operation that was refused before it ran.
type Run = func(ctx context.Context, variables map[string]any) *graphql.Response

// Prepare reads a document with one operation, a query or a mutation, once for all its
// runs. The limits of documents do not hold for it; its error names what is invalid.
func (s *Server) Prepare(text string) (Run, error) { return s.prepare(text, trusted) }

// PrepareLimited is Prepare for a document that users wrote: it is bounded as those that
// clients send.
func (s *Server) PrepareLimited(text string) (Run, error) {
	return s.prepare(text, s.cfg.Limits.Limits)
}

func (s *Server) prepare(text string, limits guard.Limits) (Run, error) {
	doc, errs := s.read(text, limits)
	if len(errs) > 0 {
		return nil, errs
	}
	op, err := doc.named("")
	if err != nil {
		return nil, err
	}
	if op.def.Operation == ast.Subscription {
		return nil, errors.New("a subscription cannot be prepared")
	}
	return func(ctx context.Context, variables map[string]any) *graphql.Response {
		c, errs := s.admit(ctx, op, &request{variables: variables}, limits.Cost)
		if len(errs) > 0 {
			return s.refused(ctx, errs)
		}
		return s.run(ctx, c)
	}, nil
}
