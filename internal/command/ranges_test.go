package command_test

import (
	"testing"
	"time"

	"simgraph/internal/command"
)

func TestDurationsMayHaveDays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "0d": 0, "1d12h": 36 * time.Hour, "1d1m30s": day + 90*time.Second, "1h30m": 90 * time.Minute, "0s": 0, "100ms": 100 * time.Millisecond,
	} {
		if got, err := command.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d-1h", "1dd", "1d1", "90", "106752d", "106751d24h", "4294967296d", "1 d"} {
		if got, err := command.ParseDuration(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
