package httpd

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// The time a client has for the header and for the whole request.
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	// cutTime is how long requests that are cut off may take to cancel what
	// they have running in the database.
	cutTime = 2 * time.Second
)

// Timing is how long what concerns single requests may take.
type Timing struct {
	// Request is the most from a request's header to the last byte of its
	// answer. Streams have deadlines of their own. 0 sets none.
	Request time.Duration
	// Delay is how long the server still takes requests after it has turned
	// unready, for balancers to notice.
	Delay time.Duration
	// Drain is how long requests in flight may take after that.
	Drain time.Duration
}

// Server serves a handler on a listener until its context ends.
type Server struct {
	Handler http.Handler
	Health  *Health
	Log     *slog.Logger
	// TLS, unless nil, are the settings to serve HTTPS with, and HTTP/2.
	TLS *tls.Config
	Timing
	// Close ends what http.Server.Shutdown does not wait for, such as WebSockets,
	// and returns when that has ended, or ctx.
	Close func(ctx context.Context)
}

// Listen listens on a TCP address. It leaves out Multipath TCP, of which a listener
// cannot be silenced.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", address)
}

// Run serves until ctx ends, then turns unready, lets requests in flight finish
// and returns. The listener is closed in any case.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var handlers inFlight
	open := newConnections()
	server := &http.Server{
		BaseContext:       func(net.Listener) context.Context { return base },
		Handler:           handlers.counted(s.Health.leaving(s.Handler)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      s.Request,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		TLSConfig:         s.TLS,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		ConnState:         open.changed,
	}
	failed := make(chan error, 1)
	go func() { failed <- s.accept(server, listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Health.Drain()
	select {
	case err := <-failed:
		return err
	case <-time.After(s.Delay):
	}
	if err := silence(listener); err != nil {
		s.Log.Debug("connections that are being opened may be reset", "error", err)
	}
	if err := s.drain(base, server, open); err != nil {
		s.Log.Warn("requests were cut off", "error", err)
		cut()
		handlers.await(cutTime)
		return server.Close()
	}
	return nil
}

// drain waits for what is in flight, as long as it may take.
func (s *Server) drain(ctx context.Context, server *http.Server, open *connections) error {
	ctx, cancel := context.WithTimeout(ctx, s.Drain)
	defer cancel()
	var streams sync.WaitGroup
	streams.Go(func() { s.Close(ctx) })
	defer streams.Wait()
	open.settle(ctx)
	return server.Shutdown(ctx)
}

// inFlight counts the requests that are being handled.
type inFlight struct{ n atomic.Int64 }

func (f *inFlight) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.n.Add(1)
		defer f.n.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// await waits until no request is being handled, but not for long.
func (f *inFlight) await(most time.Duration) {
	for begun := time.Now(); f.n.Load() > 0 && time.Since(begun) < most; {
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *Server) accept(server *http.Server, listener net.Listener) error {
	if s.TLS != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(malformedListener{listener})
}
