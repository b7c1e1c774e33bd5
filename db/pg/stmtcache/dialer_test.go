package stmtcache_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg/stmtcache"
	"simgraph/internal/fatal"
)

// breaking requests a password and then breaks the connection.
type breaking struct {
	net.Conn
	asks   *strings.Reader
	writes int
}

func (b *breaking) DialContext(context.Context, string, string) (net.Conn, error) { return b, nil }
func (b *breaking) Read(to []byte) (int, error)                                   { return b.asks.Read(to) }
func (b *breaking) SetDeadline(time.Time) error                                   { return nil }
func (b *breaking) Close() error                                                  { return nil }

func (b *breaking) Write(from []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return len(from), nil
}

func TestTheErrorOfANetworkThatBreaksAtTheGreetingIsReturned(t *testing.T) {
	t.Parallel()
	inner, err := pq.NewConnector("host=example.test user=u password=p sslmode=disable")
	fatal.If(t, err)
	network := &breaking{asks: strings.NewReader("R\x00\x00\x00\x08\x00\x00\x00\x03")}
	_, err = stmtcache.New(inner, network, 8, nil).Connect(t.Context())
	if broken, ok := errors.AsType[net.Error](err); !ok || !errors.Is(broken, syscall.ECONNRESET) {
		t.Errorf("got %T %v", err, err)
	}
}

// refuseTLS takes two connections. It refuses TLS on the first, as a server that
// has none does, and closes the second.
func refuseTLS(server net.Listener) (first net.Conn, err error) {
	if first, err = server.Accept(); err != nil {
		return nil, err
	}
	if _, err = io.ReadFull(first, make([]byte, 8)); err == nil {
		_, err = first.Write([]byte{'N'})
	}
	second, refused := server.Accept()
	if refused == nil {
		refused = second.Close()
	}
	return first, errors.Join(err, refused)
}

func TestTheConnectionOverWhichTLSIsRefusedIsClosed(t *testing.T) {
	t.Parallel()
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer server.Close()
	inner, err := pq.NewConnector("postgres://u:p@" + server.Addr().String() + "/db?sslmode=prefer")
	fatal.If(t, err)
	connected := make(chan error, 1)
	go func() {
		_, err := stmtcache.New(inner, new(net.Dialer), 8, nil).Connect(t.Context())
		connected <- err
	}()
	first, err := refuseTLS(server)
	fatal.If(t, err)
	defer first.Close()
	if err := <-connected; err == nil {
		t.Error("connected to a server that closed the connection")
	}
	fatal.If(t, first.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
