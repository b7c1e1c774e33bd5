package pg

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// deaf returns the address of a server that never answers a connection: its
// queue is full.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	fatal.If(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	fatal.If(t, errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)))
	bound, err := syscall.Getsockname(fd)
	fatal.If(t, err)
	in := bound.(*syscall.SockaddrInet4)
	address := (&net.TCPAddr{IP: in.Addr[:], Port: in.Port}).String()
	for {
		conn, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
}

func TestADialOfClosedConnectionsFailsAsOfAServerThatIsDown(t *testing.T) {
	conns, address := newConns(), deaf(t)
	time.AfterFunc(50*time.Millisecond, conns.closeAll)
	for _, when := range []string{"while they are closed", "after they were closed"} {
		_, err := conns.DialContext(t.Context(), "tcp", address)
		if !errors.Is(err, errClosed) || !unreachable(err) || stopped(err) {
			t.Errorf("%s: %v", when, err)
		}
	}
}

func TestADialThatTheCallerGivesUpIsStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := newConns().DialContext(ctx, "tcp", deaf(t))
	if err == nil || errors.Is(err, errClosed) {
		t.Errorf("%v", err)
	}
}
