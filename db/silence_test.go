package db

import (
	"net"
	"testing"
	"time"
)

func TestAConnectionThatWasJustMadeIsNotSuspect(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	l := listening(time.Minute).(*listeners)
	dial := func() net.Conn {
		conn, err := l.DialContext(t.Context(), "tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	old := dial()
	since := time.Now()
	young := dial()
	l.suspect(since)
	if _, err := old.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was not heard since is kept")
	}
	if _, err := young.Read(make([]byte, 1)); err != nil {
		t.Errorf("a connection that came about since is closed: %v", err)
	}
}
