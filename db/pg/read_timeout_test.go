package pg

import (
	"net"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

func TestAConnectionThatWasMadeAfterASilentReadBeganIsKept(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer server.Close()
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go func() { _, _ = conn.Write([]byte{'x'}) }()
		}
	}()
	d := newReadTimeoutDialer(time.Minute).(*readTimeoutDialer)
	dial := func() net.Conn {
		conn, err := d.DialContext(t.Context(), "tcp", server.Addr().String())
		fatal.If(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	old := dial()
	since := time.Now()
	young := dial()
	d.closeSilent(since)
	if _, err := old.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that has read nothing since is kept")
	}
	if _, err := young.Read(make([]byte, 1)); err != nil {
		t.Errorf("a connection that was made since is closed: %v", err)
	}
}
