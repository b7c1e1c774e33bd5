package transport

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// mostGathered is how many bytes wait for a connection before a write waits.
	mostGathered = 16 << 10
	// leastKept is the size of a buffer that an idle connection keeps.
	leastKept = 1 << 10
	// lastPatience is how long a connection that is closed may take for what waits.
	lastPatience = time.Second
)

// gathering hands the connection of a request over as one that gathers.
type gathering struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w gathering) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	g := &gathered{Conn: conn}
	g.changed.L = &g.mu
	return g, bufio.NewReadWriter(both.Reader, bufio.NewWriter(g)), nil
}

// gathered is a connection that sends what comes while it sends together: an event goes to
// many operations of a WebSocket, and a system call for each would cost more than all else.
// A write returns before it is sent; the next one has its error.
type gathered struct {
	net.Conn
	mu      sync.Mutex
	changed sync.Cond
	// waiting is sent next, spare is the buffer that was sent last.
	waiting, spare []byte
	sending        bool
	err            error
}

func (g *gathered) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) >= mostGathered && g.err == nil {
		g.changed.Wait()
	}
	if g.err != nil {
		return 0, g.err
	}
	g.waiting = append(g.waiting, b...)
	if !g.sending {
		g.sending = true
		go g.send()
	}
	return len(b), nil
}

func (g *gathered) send() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) > 0 && g.err == nil {
		sent := g.waiting
		g.waiting, g.spare = g.spare, nil
		g.mu.Unlock()
		_, err := g.Conn.Write(sent)
		g.mu.Lock()
		g.spare, g.err = sent[:0], err
		g.changed.Broadcast()
	}
	if cap(g.spare) > leastKept {
		g.spare = nil
	}
	if cap(g.waiting) > leastKept {
		g.waiting = nil
	}
	g.sending = false
	g.changed.Broadcast()
}

// Close sends what waits, which may be why the connection ends.
func (g *gathered) Close() error {
	_ = g.SetWriteDeadline(time.Now().Add(lastPatience))
	g.mu.Lock()
	for g.sending {
		g.changed.Wait()
	}
	if g.err == nil {
		g.err = net.ErrClosed
	}
	g.mu.Unlock()
	return g.Conn.Close()
}
