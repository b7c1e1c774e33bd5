//go:build linux

package faults_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// proxy is the network between simgraph and its database.
type proxy struct {
	listener net.Listener
	socket   string
	// refuses means that new connections are reset at once.
	refuses atomic.Bool

	mu    sync.Mutex
	conns map[*wire]struct{}
	// hole swallows what is sent, in both directions, while it is open.
	hole *blackHole
}

// blackHole is one interruption. Connections from before it stay silent for
// ever, as behind a firewall that has forgotten them.
type blackHole struct{ over chan struct{} }

// wire is one connection through the proxy.
type wire struct {
	near, far net.Conn
	// lost is closed when nothing gets through any more.
	lost chan struct{}
	once sync.Once
}

func (w *wire) lose() { w.once.Do(func() { close(w.lost) }) }

// newProxy leads to the socket of a database and returns the address by which
// simgraph reaches the database through it.
func newProxy(t *testing.T, d *database) (*proxy, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address, err := url.Parse(d.url())
	fatal.If(t, err)
	p := &proxy{
		listener: listener, socket: fmt.Sprintf("%s/.s.PGSQL.%s", address.Query().Get("host"), address.Query().Get("port")),
		conns: map[*wire]struct{}{},
	}
	go p.accept()
	t.Cleanup(func() { _ = listener.Close(); p.reset() })
	address.Host, address.RawQuery = listener.Addr().String(), "sslmode=disable"
	return p, address.String()
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.refuses.Load() {
			abort(near)
			continue
		}
		go p.connect(near)
	}
}

func (p *proxy) connect(near net.Conn) {
	if hole := p.current(); hole != nil {
		<-hole.over
	}
	far, err := net.Dial("unix", p.socket)
	if err != nil {
		abort(near)
		return
	}
	w := &wire{near: near, far: far, lost: make(chan struct{})}
	p.mu.Lock()
	p.conns[w] = struct{}{}
	p.mu.Unlock()
	var ends sync.WaitGroup
	ends.Go(func() { w.copy(far, near) })
	ends.Go(func() { w.copy(near, far) })
	ends.Wait()
	p.mu.Lock()
	delete(p.conns, w)
	p.mu.Unlock()
}

// copy passes on what comes until an end closes, or swallows it.
func (w *wire) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-w.lost:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) current() *blackHole {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hole
}

// reset breaks all connections by RST.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.conns {
		abort(w.near)
		_ = w.far.Close()
	}
}

func abort(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// swallow makes a black hole of the network for a while.
func (p *proxy) swallow(d time.Duration) {
	hole := &blackHole{make(chan struct{})}
	p.mu.Lock()
	p.hole = hole
	for w := range p.conns {
		w.lose()
	}
	p.mu.Unlock()
	time.Sleep(d)
	p.mu.Lock()
	p.hole = nil
	p.mu.Unlock()
	close(hole.over)
}
