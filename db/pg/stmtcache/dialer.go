package stmtcache

import (
	"cmp"
	"context"
	"database/sql/driver"
	"net"
	"time"

	"github.com/lib/pq"
)

// ContextDialer makes network connections, as [net.Dialer] does.
type ContextDialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// attempt is one call of lib/pq's Connect, which makes several network
// connections where a server refuses TLS.
type attempt struct {
	last *dialed
}

type attemptKey struct{}

// connect makes a connection. It corrects two errors of lib/pq: a connection over
// which a server has refused TLS is not closed, and the error of a network that
// breaks before the password is sent has a type that hides its cause.
func connect(ctx context.Context, inner *pq.Connector) (driver.Conn, error) {
	a := new(attempt)
	conn, err := inner.Connect(context.WithValue(ctx, attemptKey{}, a))
	if err != nil && a.last != nil {
		return nil, cmp.Or(a.last.unsent, err)
	}
	return conn, err
}

// dialer implements [pq.DialerContext].
type dialer struct{ ContextDialer }

// DialContext implements pq.DialerContext. It closes the connection that the same
// attempt made before.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := d.ContextDialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &dialed{Conn: inner}
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		if a.last != nil {
			_ = a.last.Close()
		}
		a.last = conn
	}
	return conn, nil
}

// Dial implements pq.Dialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// dialed is used by one goroutine at a time, but for Close.
type dialed struct {
	net.Conn
	// unsent is why something could not be sent.
	unsent error
}

// Write implements net.Conn.
func (c *dialed) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		c.unsent = err
	}
	return n, err
}
