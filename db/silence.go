package db

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/db/stmtcache"
)

// silenceGrace is for the way of an answer, and for a busy server.
const silenceGrace = 2 * time.Second

// listeners make the network connections of a pool whose statements the server
// ends in time. Where the network loses what is sent, nobody would tell: the
// driver waits for an answer even when the context of the statement has ended.
// A connection that is silent for longer than any statement may run is closed.
type listeners struct {
	net.Dialer
	limit time.Duration
	// born is where the clock of heard begins, which no change of the system's
	// clock moves.
	born time.Time

	mu    sync.Mutex
	conns map[*listened]struct{}
}

// listening returns a plain dialer when statements have no limit.
func listening(statementTimeout time.Duration) stmtcache.ContextDialer {
	if statementTimeout <= 0 {
		return new(net.Dialer)
	}
	return &listeners{limit: statementTimeout + silenceGrace, born: time.Now(), conns: map[*listened]struct{}{}}
}

// DialContext implements stmtcache.ContextDialer.
func (l *listeners) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &listened{Conn: conn, of: l}
	c.hear() // it was answered
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c, nil
}

// suspect closes the connections that were not heard since a moment from which
// on another one got no answer: those that wait in the pool are no better, and
// each would cost a request the same wait.
func (l *listeners) suspect(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.heard.Load() < int64(since.Sub(l.born)) {
			_ = c.Conn.Close()
		}
	}
}

func (l *listeners) forget(c *listened) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// listened is used by one goroutine at a time, but for Close.
type listened struct {
	net.Conn
	of *listeners
	// until is the deadline that the driver has set; zero for none.
	until time.Time
	// heard is when something came last, as a time since of.born.
	heard atomic.Int64
}

// Read implements net.Conn.
func (c *listened) Read(b []byte) (int, error) {
	began, deadline := c.deadline()
	if err := c.Conn.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.hear()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.of.suspect(began)
	}
	return n, err
}

func (c *listened) hear() { c.heard.Store(int64(time.Since(c.of.born))) }

// Write implements net.Conn.
func (c *listened) Write(b []byte) (int, error) {
	_, deadline := c.deadline()
	if err := c.Conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *listened) deadline() (now, deadline time.Time) {
	now = time.Now()
	deadline = now.Add(c.of.limit)
	if !c.until.IsZero() && c.until.Before(deadline) {
		deadline = c.until
	}
	return now, deadline
}

// SetDeadline implements net.Conn.
func (c *listened) SetDeadline(t time.Time) error {
	c.until = t
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *listened) Close() error {
	c.of.forget(c)
	return c.Conn.Close()
}
