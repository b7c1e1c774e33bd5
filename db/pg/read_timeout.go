package pg

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/db/pg/stmtcache"
)

// readGrace is added to the statement timeout, for a busy server and the time on
// the network.
const readGrace = 2 * time.Second

// readTimeoutDialer makes connections whose reads end some time after the server
// should have ended the statement. Without it a read waits for ever where the
// network drops packets, since lib/pq reads on when the context of the statement
// has ended. TCP's keep-alive does not replace it: a proxy acknowledges packets
// for a server that is out of reach (docs/decisions/0020).
type readTimeoutDialer struct {
	net.Dialer
	limit time.Duration
	// epoch is where lastRead is counted from: unlike times of day, durations since
	// it do not change when the system's clock is set.
	epoch time.Time

	mu    sync.Mutex
	conns map[*readTimeoutConn]struct{}
}

// newReadTimeoutDialer returns a plain dialer when statements have no limit.
func newReadTimeoutDialer(statementTimeout time.Duration) stmtcache.ContextDialer {
	if statementTimeout <= 0 {
		return new(net.Dialer)
	}
	return &readTimeoutDialer{limit: statementTimeout + readGrace, epoch: time.Now(), conns: map[*readTimeoutConn]struct{}{}}
}

// DialContext implements stmtcache.ContextDialer.
func (d *readTimeoutDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &readTimeoutConn{Conn: inner, dialer: d}
	c.noteRead() // the server has answered the dial
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = struct{}{}
	return c, nil
}

// closeSilent closes the connections that have read nothing since the moment at
// which a read began that timed out. Idle ones in the pool are most likely as dead
// as that one, and each would cost a request the same wait.
func (d *readTimeoutDialer) closeSilent(since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		if c.lastRead.Load() < int64(since.Sub(d.epoch)) {
			_ = c.Conn.Close()
		}
	}
}

func (d *readTimeoutDialer) remove(c *readTimeoutConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// readTimeoutConn is used by one goroutine at a time, but for Close.
type readTimeoutConn struct {
	net.Conn
	dialer *readTimeoutDialer
	// until is the deadline that the driver has set; zero for none.
	until time.Time
	// lastRead is when something was read last, as a duration since dialer.epoch.
	lastRead atomic.Int64
}

// Read implements net.Conn.
func (c *readTimeoutConn) Read(b []byte) (int, error) {
	began, deadline := c.deadline()
	if err := c.Conn.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.noteRead()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.dialer.closeSilent(began)
	}
	return n, err
}

func (c *readTimeoutConn) noteRead() { c.lastRead.Store(int64(time.Since(c.dialer.epoch))) }

// Write implements net.Conn.
func (c *readTimeoutConn) Write(b []byte) (int, error) {
	_, deadline := c.deadline()
	if err := c.Conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *readTimeoutConn) deadline() (now, deadline time.Time) {
	now = time.Now()
	deadline = now.Add(c.dialer.limit)
	if !c.until.IsZero() && c.until.Before(deadline) {
		deadline = c.until
	}
	return now, deadline
}

// SetDeadline implements net.Conn.
func (c *readTimeoutConn) SetDeadline(t time.Time) error {
	c.until = t
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *readTimeoutConn) Close() error {
	c.dialer.remove(c)
	return c.Conn.Close()
}
