package telemetry

import (
	"context"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/transport"
)

// Operation follows an operation of the graph: see transport.Config.Observe.
func (t *Telemetry) Operation(ctx context.Context, op transport.Operation) (context.Context, func(gqlerror.List)) {
	stream := op.Kind == ast.Subscription && !op.Refused
	a := activityOf(ctx)
	own := a == nil || a.endpoint == endpointWebSocket
	if own {
		a = t.within(ctx, a)
		ctx = a.in(ctx)
	}
	name := t.Metrics.bounded(op.Name)
	a.run(name, op.Cost, stream)
	began := time.Now()
	ctx, span := t.traceOperation(ctx, op)
	if stream {
		t.Metrics.subscribed(1)
	}
	return ctx, func(errs gqlerror.List) {
		took := time.Since(began)
		code := codeOf(errs)
		a.ended(code)
		t.Metrics.operated(a.endpoint, name, op, code, took)
		endOperation(span, code)
		if stream {
			t.Metrics.subscribed(-1)
		}
		if own {
			t.log(ctx, "operation", a, took)
		}
	}
}

// within begins an activity of its own for an operation of a connection.
func (t *Telemetry) within(ctx context.Context, connection *activity) *activity {
	a := &activity{endpoint: "inside", requestID: transport.RequestID(ctx), began: time.Now()}
	if connection != nil {
		a.endpoint = connection.endpoint
		connection.mu.Lock()
		a.caller = connection.caller
		connection.mu.Unlock()
	}
	return a
}

// codeOf is the code of the first error; "" when all went well.
func codeOf(errs gqlerror.List) string {
	if len(errs) == 0 {
		return ""
	}
	code, _ := errs[0].Extensions["code"].(string)
	if code == "" {
		return "ERROR"
	}
	return code
}

// Statement follows a statement: see pg.Options.Trace.
func (t *Telemetry) Statement(ctx context.Context, query string) (answered func(error)) {
	a := activityOf(ctx)
	if a == nil && t.Metrics == nil {
		return nil
	}
	span := t.traceStatement(ctx, query)
	began := time.Now()
	return func(err error) {
		took := time.Since(began)
		t.Metrics.statement(took)
		endStatement(span, err)
		if a != nil && t.Slow > 0 {
			a.ran(query, took)
		}
	}
}
