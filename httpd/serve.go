package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// The time a client has for the header and for the whole request.
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
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

// Run serves until ctx ends, then turns unready, lets requests in flight finish
// and returns. The listener is closed in any case.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.Health.leaving(s.Handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      s.Request,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		TLSConfig:         s.TLS,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
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
	return s.drain(context.WithoutCancel(ctx), server)
}

// drain waits for what is in flight, as long as it may take.
func (s *Server) drain(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.Drain)
	defer cancel()
	var streams sync.WaitGroup
	streams.Go(func() { s.Close(ctx) })
	defer streams.Wait()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.Log.Warn("requests were cut off", "error", err)
		return server.Close()
	}
	return nil
}

func (s *Server) accept(server *http.Server, listener net.Listener) error {
	if s.TLS != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}
