//go:build linux

package faults_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"simgraph/db/dbtest"
)

// openSockets opens that many WebSockets, each with a subscription.
func (n *node) openSockets(size int) []*websocket.Conn {
	n.Helper()
	sockets := make([]*websocket.Conn, size)
	var opening sync.WaitGroup
	var next atomic.Int64
	for range 16 {
		opening.Go(func() {
			for i := next.Add(1) - 1; i < int64(size); i = next.Add(1) - 1 {
				socket, err := n.socket(n.Context(), &websocket.DialOptions{})
				if err == nil {
					err = subscribe(n.Context(), socket, "subscription {alertTriggered {entryId}}")
				}
				if err != nil {
					n.Errorf("socket %d: %v", i, err)
					return
				}
				sockets[i] = socket
			}
		})
	}
	opening.Wait()
	if n.Failed() {
		n.FailNow()
	}
	return sockets
}

func TestTwoThousandIdleWebSockets(t *testing.T) {
	t.Parallel()
	const size = 2000
	needFiles(t, 2*size+1000)
	n := startNode(t, dbtest.URL(t), "--token-websockets", "2000", "--address-websockets", "0", "--token-subscriptions", "0", "--address-subscriptions", "0")
	n.fleet(10)
	heap, goroutines, resident := n.heap(), n.goroutines(), n.resident()
	sockets := n.openSockets(size)
	eventually(t, "all subscribe", func() bool { return n.goroutines() >= goroutines+3*size })
	held, stacks := (n.heap()-heap)/size, (n.resident()-resident)/size
	if _, err := n.socket(t.Context(), &websocket.DialOptions{}); err == nil {
		t.Error("one more than the token may have is opened")
	}
	stop := n.watching()
	time.Sleep(time.Second)
	others := stop()
	for _, socket := range sockets {
		_ = socket.CloseNow()
	}
	eventually(t, "goroutines are back", func() bool { return n.goroutines() < goroutines+10 })
	eventually(t, "memory is back", func() bool { return n.heap() < heap+16<<20 })
	back := n.heap()
	sockets = n.openSockets(size)
	ends := make(chan bool, size)
	for _, socket := range sockets {
		go func() { ends <- goesAway(t.Context(), socket) }()
	}
	began := time.Now()
	n.signal(syscall.SIGTERM)
	closed := 0
	for range size {
		if <-ends {
			closed++
		}
	}
	if status := n.awaitExit(patience); status != 0 {
		t.Errorf("exit status %d: %s", status, n.stderr)
	}
	t.Logf("idle WebSockets: %d with a subscription each; %.0f kB of heap and %.0f kB of resident memory for each; %.1f MB live before, %.1f MB after they left; %v; %d closed with 1001 when the server stopped, which took %v",
		size, held/1024, stacks/1024, heap/(1<<20), back/(1<<20), others, closed, time.Since(began).Round(time.Millisecond))
	others.fine(t)
	if closed != size {
		t.Errorf("%d of %d were closed with 1001", closed, size)
	}
	if held > 64<<10 {
		t.Errorf("%.0f bytes of heap for each", held)
	}
}

// goesAway waits for the end of a WebSocket, and reports whether it was the one
// of a server that stops.
func goesAway(ctx context.Context, socket *websocket.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if _, _, err := socket.Read(ctx); err != nil {
			closed, is := errors.AsType[websocket.CloseError](err)
			return is && closed.Code == websocket.StatusGoingAway
		}
	}
}
