package transport

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Operation is what observers get of an operation.
type Operation struct {
	// Name is "" for one without a name, or a document that cannot be read.
	Name string
	// Kind is "" where the document cannot be read.
	Kind ast.Operation
	// Refused reports that the operation does not run.
	Refused bool
	// Cost is 0 where the operation was refused.
	Cost int
	// Deprecated are the deprecated coordinates of the schema that the text names, each once.
	// It is empty where the operation was refused.
	Deprecated []string
}

// begin reports an operation that is about to run.
func (s *Server) begin(ctx context.Context, c *call) (context.Context, func(gqlerror.List)) {
	s.count(ctx, c)
	if s.cfg.Observe == nil {
		return ctx, func(gqlerror.List) {}
	}
	return s.cfg.Observe(ctx, Operation{Name: c.def.Name, Kind: c.def.Operation, Cost: c.cost, Deprecated: c.uses.deprecated})
}

// observeRefused reports an operation that does not run; op is nil where the
// document did not name one.
func (s *Server) observeRefused(ctx context.Context, op *operation, errs gqlerror.List) {
	if s.cfg.Observe == nil {
		return
	}
	refused := Operation{Refused: true}
	if op != nil {
		refused.Name, refused.Kind = op.def.Name, op.def.Operation
	}
	_, done := s.cfg.Observe(ctx, refused)
	done(errs)
}

// run executes what was admitted.
func (s *Server) run(ctx context.Context, c *call) *graphql.Response {
	defer c.leave()
	ctx, done := s.begin(ctx, c)
	resp := s.execute(ctx, c)
	resp.Errors = limited(ctx, resp.Errors)
	done(resp.Errors)
	return resp
}

// enter waits for the turn of an operation.
func (s *Server) enter(ctx context.Context, kind ast.Operation) (leave func(), fault *gqlerror.Error) {
	if s.cfg.Enter == nil {
		return func() {}, nil
	}
	leave, err := s.cfg.Enter(ctx, kind)
	if err != nil {
		return nil, s.refusal(ctx, err)
	}
	return leave, nil
}
