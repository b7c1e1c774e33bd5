package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// The time a client has for the header and for the whole request.
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	// drainTime is how long requests in flight may take once the server stops.
	drainTime = 15 * time.Second
)

// Server serves a handler on a listener until its context ends.
type Server struct {
	Handler http.Handler
	Health  *Health
	Log     *slog.Logger
	// TLS, unless nil, are the settings to serve HTTPS with, and HTTP/2.
	TLS *tls.Config
	// Close ends what http.Server.Shutdown does not wait for, such as WebSockets.
	Close func()
}

// Run serves until ctx ends, then turns unready, lets requests in flight finish
// and returns. The listener is closed in any case.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		TLSConfig:         s.TLS,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(s.Close)
	failed := make(chan error, 1)
	go func() { failed <- s.accept(server, listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Health.Drain()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil && !errors.Is(err, http.ErrServerClosed) {
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
