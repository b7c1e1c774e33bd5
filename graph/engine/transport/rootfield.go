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
	field := rootField(graphql.GetOperationContext(ctx), c)
	return func(ctx context.Context) context.Context {
		if field == nil {
			return ctx
		}
		return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: *field})
	}
}

// rootField is that of a subscription; nil where directives leave it out.
func rootField(op *graphql.OperationContext, c *call) *graphql.CollectedField {
	fields := graphql.CollectFields(op, c.def.SelectionSet, []string{"Subscription"})
	if len(fields) == 0 {
		return nil
	}
	return &fields[0]
}
