package httpd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
)

// Clients that send one request after the other, on connections that they keep,
// are answered or refused when a server stops: none finds a connection reset.
func TestNoConnectionIsResetWhenABusyServerStops(t *testing.T) {
	for _, delay := range []time.Duration{0, 300 * time.Millisecond} {
		t.Run(fmt.Sprint("delay ", delay), func(t *testing.T) {
			t.Parallel()
			stopUnderLoad(t, delay)
			stopUnderLoad(t, delay)
		})
	}
}

func stopUnderLoad(t *testing.T, delay time.Duration) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	fatal.If(t, err)
	ctx, stop := context.WithCancel(t.Context())
	server := &httpd.Server{
		Handler: named("answered"), Health: &httpd.Health{}, Log: slog.New(slog.DiscardHandler),
		Timing: httpd.Timing{Delay: delay, Drain: time.Minute}, Close: func(context.Context) {},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 16 {
		clients.Go(func() {
			if err := useUntilRefused("http://"+listener.Addr().String(), &answered); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Error(err)
			}
		})
	}
	for answered.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	clients.Wait()
}

// useUntilRefused sends requests until one fails, and returns why. It posts, since
// a client repeats a GET by itself when its connection is reset.
func useUntilRefused(url string, answered *atomic.Int64) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		response, err := client.Post(url, "text/plain", http.NoBody)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil {
			return err
		}
		answered.Add(1)
	}
}
