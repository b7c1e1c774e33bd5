package transport_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
)

// observed gathers what observers get of operations, in the order in which they end.
type observed struct {
	mu    sync.Mutex
	lines []string
	open  atomic.Int32
}

func (o *observed) observe(ctx context.Context, op transport.Operation) (context.Context, func(gqlerror.List)) {
	o.open.Add(1)
	return ctx, func(errs gqlerror.List) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lines = append(o.lines, fmt.Sprintf("%s %s %d %d", op.Kind, op.Name, op.Cost, len(errs)))
		o.open.Add(-1)
	}
}

func (o *observed) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Join(o.lines, "; ")
	o.lines = nil
	return lines
}

func TestEveryOperationIsObservedOnce(t *testing.T) {
	o := new(observed)
	b := newBench(t, func(c *transport.Config) { c.Observe = o.observe })
	for _, c := range []struct{ query, want string }{
		{"{hello}", "query  0 0"},
		{"query Named {items(first:3){nodes{id}}}", "query Named 4 0"},
		{"mutation Up {increment}", "mutation Up 10 0"},
		{"query Bad {failures(times:1)}", "query Bad 0 1"},
		{"query Q($n:Int!){integer(value:$n)}", "query Q 0 1"},
		{"{nowhere}", "  0 1"},
		{"}", "  0 1"},
	} {
		if b.query(c.query, ""); o.take() != c.want {
			t.Errorf("%s: want %q", c.query, c.want)
		}
		if c.want != "  0 1" && c.want != "query  0 0" { // over the stream too
			b.events(c.query)
			b.eventually("the operation ends", func() bool { return o.open.Load() == 0 })
			if got := o.take(); got != c.want {
				t.Errorf("as events %s: got %q", c.query, got)
			}
		}
	}
}

func TestWhatHasNoTurnIsRefusedAndTurnsAreGivenBack(t *testing.T) {
	var open atomic.Int32
	b := newBench(t, func(c *transport.Config) {
		c.Enter = func(_ context.Context, kind ast.Operation) (func(), error) {
			if kind == ast.Mutation {
				return nil, &domain.Error{Kind: domain.KindUnavailable, RetryAfter: time.Second}
			}
			open.Add(1)
			return func() { open.Add(-1) }, nil
		}
	})
	for _, query := range []string{"{hello}", "{panic}", `{fail(kind:"internal")}`} {
		if got := b.query(query, ""); got.status != 200 || open.Load() != 0 {
			t.Error(got, open.Load())
		}
	}
	got := b.query("mutation{increment}", "")
	if got.status != 503 || got.header.Get("Retry-After") != "1" || got.codes() != "UNAVAILABLE" || got.data() != "" {
		t.Error(got)
	}
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{forever}"}}`)
	b.eventually("the subscription has its turn", func() bool { return open.Load() == 1 })
	w.send(`{"type":"complete","id":"1"}`)
	b.eventually("its turn is over", func() bool { return open.Load() == 0 })
	w = b.ready()
	w.send(`{"type":"subscribe","id":"2","payload":{"query":"mutation{increment}"}}`)
	w.expect(`"type":"error"`, `"id":"2"`, `"UNAVAILABLE"`, `"retryAfter":1`)
}

func TestAThrottledConnectionIsClosed(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Authenticate = func(context.Context, map[string]any) (context.Context, error) {
			return nil, &domain.Error{Kind: domain.KindRateLimited, RetryAfter: time.Second, Message: "too many WebSockets"}
		}
	})
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"connection_init"}`)
	w.closes(4429, "Too many connections or requests")
}
