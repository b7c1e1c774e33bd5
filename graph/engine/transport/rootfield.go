package transport

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// withinRoot puts the root field of a subscription into the context of its
// events, so that the paths of their errors begin with it: the engine executes
// an event below a root that the context does not name. Validation saw to it
// that there is one root field at most.
func withinRoot(ctx context.Context, c *call) func(context.Context) context.Context {
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), c.def.SelectionSet, []string{"Subscription"})
	return func(ctx context.Context) context.Context {
		if len(fields) == 0 {
			return ctx
		}
		return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: fields[0]})
	}
}
