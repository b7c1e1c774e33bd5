package command

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestEachHangupIsFollowed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	hangups := make(chan os.Signal, 3)
	for range cap(hangups) {
		hangups <- syscall.SIGHUP
	}
	close(hangups)
	(&reloader{log: slog.New(slog.NewTextHandler(&log, nil))}).follow(hangups)
	if n := strings.Count(log.String(), "there is no TLS certificate"); n != cap(hangups) {
		t.Errorf("%d of %d were followed: %s", n, cap(hangups), &log)
	}
}
