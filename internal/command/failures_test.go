package command

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/internal/telemetry"
)

// text is what was written since the last call of take.
type text struct {
	mu      sync.Mutex
	written []byte
}

func (w *text) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = append(w.written, b...)
	return len(b), nil
}

func (w *text) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	written := string(w.written)
	w.written = nil
	return written
}

// All workers fail while the database is away: the log has the first of it at once, and
// then a line a minute with how often each failed, until they work again.
func TestWorkersThatFailAreOneLineAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &text{}
		v := &service{log: slog.New(slog.NewTextHandler(out, nil)), telemetry: &observed{Telemetry: telemetry.New(telemetry.Config{})}}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var away atomic.Bool
		away.Store(true)
		for _, name := range workers {
			go v.keepRunning(ctx, name, func(ctx context.Context) error {
				if away.Load() {
					return errors.New("connection refused")
				}
				<-ctx.Done()
				return nil
			})
		}
		time.Sleep(3*time.Minute + time.Second)
		log := out.take()
		if n := strings.Count(log, "\n"); n != 4 {
			t.Errorf("%d lines in three minutes:\n%s", n, log)
		}
		if n := strings.Count(log, "times."+workerMail+"="); n != 3 {
			t.Errorf("%d lines count the failures of the worker %s", n, workerMail)
		}
		away.Store(false)
		time.Sleep(2 * time.Minute)
		out.take()
		v.failures.note(ctx, v.log, workerMail, errors.New("again"))
		if !strings.Contains(out.take(), "again") {
			t.Error("the first failure after a while is not logged at once")
		}
		stop()
		time.Sleep(failuresEvery)
	})
}
