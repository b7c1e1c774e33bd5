package pg

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// conns make the network connections of a pool, which can all be closed at once.
// What waits for a server that hangs fails then, where lib/pq would wait on when
// the context of a statement has ended.
type conns struct {
	mu     sync.Mutex
	opened context.Context // ends with closeAll
	end    context.CancelFunc
}

func newConns() *conns {
	c := new(conns)
	c.opened, c.end = context.WithCancel(context.Background())
	return c
}

// closeAll closes all connections. It makes no more until reopen.
func (c *conns) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
}

func (c *conns) reopen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened.Err() != nil {
		c.opened, c.end = context.WithCancel(context.Background())
	}
}

func (c *conns) current() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

var errClosed = errors.New("connections to the server are closed for now")

const keepAlive = 15 * time.Second

// DialContext implements stmtcache.ContextDialer.
func (c *conns) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	opened := c.current()
	dialing, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(opened, cancel)()
	conn, err := (&net.Dialer{KeepAlive: keepAlive}).DialContext(dialing, network, address)
	switch {
	case err == nil:
	case opened.Err() != nil && ctx.Err() == nil:
		// As of a server that is down: the caller has not given up.
		return nil, &net.OpError{Op: "dial", Net: network, Err: errClosed}
	default:
		return nil, err
	}
	return &closableConn{conn, context.AfterFunc(opened, func() { _ = conn.Close() })}, nil
}

// closableConn is closed by closeAll.
type closableConn struct {
	net.Conn
	stop func() bool
}

// Close implements net.Conn.
func (c *closableConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
