package httpd

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// settledAfter is how long a connection has sent nothing when it is closed
	// without a warning: a client that used it a moment ago may send the next
	// request at the same time, and would find the connection reset.
	settledAfter = 500 * time.Millisecond
	// handshakeTime is how long handshakes that have begun may take to end.
	handshakeTime = 100 * time.Millisecond
	// settleEvery is how often connections are looked at meanwhile.
	settleEvery = 10 * time.Millisecond
)

// connections are those that wait for a request, each with the time from which on
// it does.
type connections struct {
	mu      sync.Mutex
	waiting map[net.Conn]time.Time
}

func newConnections() *connections { return &connections{waiting: map[net.Conn]time.Time{}} }

// changed is an http.Server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateNew || state == http.StateIdle {
		c.waiting[conn] = time.Now()
	} else {
		delete(c.waiting, conn)
	}
}

// settled reports whether no connection has begun to wait for a request lately.
func (c *connections) settled(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, since := range c.waiting {
		if now.Sub(since) < settledAfter {
			return false
		}
	}
	return true
}

// settle returns when the connections that were opened before the listener was
// silenced are accepted, and those in use have had their last answer, which announces to
// their clients that they close; or when ctx ends.
func (c *connections) settle(ctx context.Context) {
	begun := time.Now()
	for ctx.Err() == nil {
		now := time.Now()
		waited := now.Sub(begun)
		if waited >= handshakeTime && c.settled(now) || waited >= 2*settledAfter {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(settleEvery):
		}
	}
}
