package pace_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/internal/fatal"
	"simgraph/internal/pace"
)

// The next round follows at once while there is more, an error ends nothing, and a round that
// has begun when the context ends is the last.
func TestRoundsFollowWhileThereIsMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var log bytes.Buffer
		var begun []time.Duration
		started := time.Now()
		round := func(context.Context) (bool, error) {
			begun = append(begun, time.Since(started))
			switch len(begun) {
			case 3:
				return false, errors.New("the database is gone")
			case 4:
				end()
				return true, nil
			}
			return len(begun) == 1, nil
		}
		pause := func() <-chan time.Time { return time.After(time.Second) }
		fatal.If(t, pace.Rounds(ctx, slog.New(slog.NewTextHandler(&log, nil)), "the queue could not be worked on", round, pause))
		if want := []time.Duration{0, 0, time.Second, 2 * time.Second}; !slices.Equal(begun, want) {
			t.Errorf("rounds began after %v, want %v", begun, want)
		}
		if text := log.String(); strings.Count(text, "the queue could not be worked on") != 1 || !strings.Contains(text, "the database is gone") {
			t.Errorf("the log has %q", text)
		}
	})
}
