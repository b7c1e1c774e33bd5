package transport

import (
	"context"
	"errors"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// CodeOf is the code of a problem because of which an operation was not run.
func CodeOf(p *problem.Problem) string {
	if p.Code == string(domain.KindRateLimited) {
		return CodeThrottled
	}
	return p.Code
}

// refusal presents why an operation may not run.
func (s *Server) refusal(ctx context.Context, err error) *gqlerror.Error {
	p := problem.Of(err)
	if p.Wait == 0 {
		return s.presented(ctx, err)
	}
	fault := coded(CodeOf(p), "%s", p.Message)
	fault.Extensions["retryAfter"] = p.Wait
	fault.Err = p
	return fault
}

// early returns the problem of an operation that came too early, or to a server
// that is busy; nil for any other.
func early(fault *gqlerror.Error) *problem.Problem {
	p, _ := errors.AsType[*problem.Problem](fault)
	return p
}
