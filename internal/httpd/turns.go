package httpd

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/internal/limit"
)

// Turns bound the operations that run at once, and the subscriptions that
// callers have open.
func Turns(limits *limit.Limits) func(ctx context.Context, kind ast.Operation) (leave func(), err error) {
	return func(ctx context.Context, kind ast.Operation) (func(), error) {
		if kind == ast.Subscription {
			return limits.Subscribe(ctx)
		}
		return limits.Run(ctx)
	}
}
