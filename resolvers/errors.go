package resolvers

import (
	"context"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
)

// Present makes the public form of an error of the domain: its kind is the
// code. Nil for any other error: those must not reach callers.
func Present(_ context.Context, err error) *gqlerror.Error {
	fault, is := domain.AsError(err)
	if !is {
		return nil
	}
	public := &gqlerror.Error{Err: fault, Message: fault.Message, Extensions: map[string]any{"code": string(fault.Kind)}}
	if fault.Field != "" {
		public.Extensions["field"] = fault.Field
	}
	return public
}
