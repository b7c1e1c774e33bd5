package rowtap

import (
	"context"
	"net"
	"time"
)

// Dialer makes connections that can be tapped, of those that another makes. It
// implements [pq.DialerContext].
//
// [pq.DialerContext]: https://pkg.go.dev/github.com/lib/pq#DialerContext
type Dialer struct {
	Inner ContextDialer
	// Untapped leaves all rows to lib/pq, such as those that are asked for in
	// other formats.
	Untapped bool
}

// ContextDialer makes network connections, as [net.Dialer] does.
type ContextDialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

type lastKey struct{}

// Last returns a context and where the connection stands that a Dialer made last
// with it. One that was made before is closed: lib/pq forgets the one over which
// a server has refused TLS.
func Last(ctx context.Context) (context.Context, **Conn) {
	last := new(*Conn)
	return context.WithValue(ctx, lastKey{}, last), last
}

// DialContext makes a connection.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := d.Inner.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &Conn{Conn: inner}
	if d.Untapped {
		conn.protocol = other
	}
	if last, ok := ctx.Value(lastKey{}).(**Conn); ok {
		if *last != nil {
			_ = (*last).Close()
		}
		*last = conn
	}
	return conn, nil
}

// Dial makes a connection.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout makes a connection, or fails when that takes longer.
func (d *Dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}
