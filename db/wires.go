package db

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// wires make the network connections of a pool. They can be cut: what waits for
// an answer of a server that hangs fails at once then, where the driver would
// wait for the server even when its context has ended.
type wires struct {
	mu   sync.Mutex
	life context.Context
	end  context.CancelFunc
}

func newWires() *wires {
	w := new(wires)
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

// cut closes all connections, and makes no more until mend.
func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
}

func (w *wires) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life.Err() != nil {
		w.life, w.end = context.WithCancel(context.Background())
	}
}

func (w *wires) current() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life
}

var errCut = errors.New("the server is left out for now")

const keepAlive = 15 * time.Second

// DialContext implements stmtcache.ContextDialer.
func (w *wires) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	life := w.current()
	dialing, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	conn, err := (&net.Dialer{KeepAlive: keepAlive}).DialContext(dialing, network, address)
	switch {
	case err == nil:
	case life.Err() != nil && ctx.Err() == nil:
		// As of a server that is down: the caller has not given up.
		return nil, &net.OpError{Op: "dial", Net: network, Err: errCut}
	default:
		return nil, err
	}
	return &wire{conn, context.AfterFunc(life, func() { _ = conn.Close() })}, nil
}

type wire struct {
	net.Conn
	forget func() bool
}

// Close implements net.Conn.
func (c *wire) Close() error {
	c.forget()
	return c.Conn.Close()
}
