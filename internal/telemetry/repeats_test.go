package telemetry_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/internal/telemetry"
)

// A worker that fails every two seconds, as while the database is away, is in the log
// once a minute, with how often it failed; other workers, requests and news are not held back.
func TestAFailureIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := telemetry.Unrepeated(slog.New(slog.NewTextHandler(&out, nil))).With("instance", 1)
		for second := range 180 {
			if second%2 == 0 {
				log.Error("the outbox could not be worked on", "worker", "mail", "error", errors.New("connection refused, attempt "+time.Now().String()))
			}
			log.Warn("a request failed", "requestId", second, "error", errors.New("refused"))
			log.Warn("a month is missing", "month", "2026-01")
			time.Sleep(time.Second)
		}
		log.Error("the outbox could not be worked on", "worker", "webhook", "error", errors.New("refused"))
		text := out.String()
		if n := strings.Count(text, "worker=mail"); n != 3 {
			t.Errorf("the failing worker has %d lines in three minutes", n)
		}
		if n := strings.Count(text, "repeated=29"); n != 2 {
			t.Errorf("%d lines have the 29 failures that were left out before them", n)
		}
		for what, n := range map[string]int{"requestId=": 180, "a month is missing": 180, "worker=webhook": 1} {
			if got := strings.Count(text, what); got != n {
				t.Errorf("%d lines have %q, not %d", got, what, n)
			}
		}
	})
}
