package transport

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Alternate answers queries in place of the schema that a Server was made on. A
// query that fails there may fall back to that schema.
type Alternate struct {
	// Schema is the same schema with other resolvers.
	Schema graphql.ExecutableSchema
	// PerResponse is that of Config, for these resolvers.
	PerResponse func(ctx context.Context) context.Context
	// ShouldFallBack reports, of the error of a field, whether the whole query is to
	// be run on the Server's own schema. The client sees nothing of that error.
	ShouldFallBack func(err error) bool
	// Retry is called for each query that falls back.
	Retry func()
}

// executeAlternate returns nil when the query must be run on the own schema.
func (s *Server) executeAlternate(ctx context.Context, c *call, a *Alternate) *graphql.Response {
	var failed atomic.Bool
	present := s.presenter()
	watched := func(ctx context.Context, err error) *gqlerror.Error {
		// Once the query is to fall back, its other errors are neither returned nor
		// logged.
		if failed.Load() || ctx.Err() == nil && a.ShouldFallBack(err) {
			failed.Store(true)
			return gqlerror.WrapIfUnwrapped(err)
		}
		return present(ctx, err)
	}
	resp := s.executeOn(ctx, c, a.Schema, func(ctx context.Context) context.Context {
		return graphql.WithResponseContext(a.PerResponse(ctx), watched, s.recovered)
	})
	if !failed.Load() {
		return resp
	}
	a.Retry()
	return nil
}
