package transport

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Elsewhere answers queries in the stead of the schema that a Server was made
// on, which is asked again when that fails.
type Elsewhere struct {
	// Schema is the same schema with other resolvers.
	Schema graphql.ExecutableSchema
	// PerResponse is that of Config, for these resolvers.
	PerResponse func(ctx context.Context) context.Context
	// Blames tells, of the error of a field, whether the whole query must be run
	// on the Server's own schema instead, which nobody but Again hears of.
	Blames func(err error) bool
	// Again is told of each query of which that is so.
	Again func()
}

// executeElsewhere returns nil when the query must be run again.
func (s *Server) executeElsewhere(ctx context.Context, c *call, e *Elsewhere) *graphql.Response {
	var failed atomic.Bool
	present := s.presenter()
	watched := func(ctx context.Context, err error) *gqlerror.Error {
		// What fails in a query that has failed already is told to nobody, nor logged.
		if failed.Load() || ctx.Err() == nil && e.Blames(err) {
			failed.Store(true)
			return gqlerror.WrapIfUnwrapped(err)
		}
		return present(ctx, err)
	}
	resp := s.executeOn(ctx, c, e.Schema, func(ctx context.Context) context.Context {
		return graphql.WithResponseContext(e.PerResponse(ctx), watched, s.recovered)
	})
	if !failed.Load() {
		return resp
	}
	e.Again()
	return nil
}
