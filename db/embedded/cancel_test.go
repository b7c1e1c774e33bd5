package embedded_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"simgraph/db/embedded"
)

// A start that is cancelled says that, whatever it was at, and blames neither folders nor
// programs.
func TestACancelledStartSaysSo(t *testing.T) {
	t.Parallel()
	for step := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(step)*time.Millisecond)
		server, err := embedded.Start(ctx, embedded.Config{Dir: filepath.Join(scratch(t), "data")})
		cancel()
		if err == nil {
			err = server.Close()
		} else if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		if err != nil {
			t.Errorf("after %d ms: %v", step, err)
		}
	}
}
