package transport_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
)

// gatedListener has connections whose writes wait while the gate is closed.
type gatedListener struct {
	net.Listener
	gate   atomic.Pointer[chan struct{}]
	writes atomic.Int32
}

type gatedConn struct {
	net.Conn
	of *gatedListener
}

func (l *gatedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &gatedConn{conn, l}, err
}

func (c *gatedConn) Write(b []byte) (int, error) {
	c.of.writes.Add(1)
	if gate := c.of.gate.Load(); gate != nil {
		<-*gate
	}
	return c.Conn.Write(b)
}

func newGated(t *testing.T) (b *bench, listener *gatedListener, ran *atomic.Int32) {
	t.Helper()
	ran = new(atomic.Int32)
	b = newBench(t, func(c *transport.Config) {
		c.Observe = func(ctx context.Context, _ transport.Operation) (context.Context, func(gqlerror.List)) {
			return ctx, func(gqlerror.List) { ran.Add(1) }
		}
	})
	server := httptest.NewUnstartedServer(http.HandlerFunc(b.engine.ServeHTTP))
	listener = &gatedListener{Listener: server.Listener}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	b.url = server.URL
	return b, listener, ran
}

func TestWhatASocketSendsWhileItWritesGoesOutTogether(t *testing.T) {
	b, listener, ran := newGated(t)
	w := b.ready()
	gate := make(chan struct{})
	listener.gate.Store(&gate)
	before := listener.writes.Load()
	const operations = 50
	for n := range operations {
		w.send(fmt.Sprintf(`{"type":"subscribe","id":"%d","payload":{"query":"mutation{increment}"}}`, n))
	}
	b.eventually("all have run", func() bool { return ran.Load() == operations })
	close(gate)
	for range 2 * operations {
		_, err := w.receive()
		fatal.If(t, err)
	}
	if writes := listener.writes.Load() - before; writes > operations/2 {
		t.Errorf("%d writes", writes)
	}
}

func TestWhatWaitsIsSentBeforeASocketIsClosed(t *testing.T) {
	b, listener, ran := newGated(t)
	w := b.ready()
	gate := make(chan struct{})
	listener.gate.Store(&gate)
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"mutation{increment}"}}`)
	b.eventually("it has run", func() bool { return ran.Load() == 1 })
	time.AfterFunc(200*time.Millisecond, func() { close(gate) })
	if err := w.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
}
