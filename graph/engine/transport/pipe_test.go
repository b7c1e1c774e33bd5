package transport_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
)

// pipes is a network without sockets, so that synctest sees when all wait for time to pass.
type pipes chan net.Conn

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// Close implements net.Listener.
func (p pipes) Close() error {
	close(p)
	return nil
}

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// pipedBench is a bench for a bubble of synctest.
func pipedBench(t *testing.T) *bench {
	t.Helper()
	network := make(pipes)
	b := &bench{T: t, resolvers: new(testschema.Resolvers), log: new(syncBuffer), url: "http://pipes"}
	b.client = &http.Client{Transport: &http.Transport{DialContext: network.dial}}
	b.engine = transport.New(testschema.New(b.resolvers), transport.Config{Log: slog.New(slog.NewTextHandler(b.log, nil))})
	server := &http.Server{Handler: b.engine}
	go func() { _ = server.Serve(network) }()
	t.Cleanup(func() {
		b.engine.Close()
		_ = server.Close()
		b.client.CloseIdleConnections()
	})
	return b
}
