package pace

import (
	"context"
	"log/slog"
	"time"
)

// Rounds calls round until ctx ends, the next one at once where there is more to do, and
// otherwise after a pause. The error of a round is logged, and the next round tries again; a
// round that has begun when ctx ends is waited for.
func Rounds(ctx context.Context, log *slog.Logger, what string, round func(ctx context.Context) (more bool, err error), pause func() <-chan time.Time) error {
	for {
		more, err := round(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error(what, "error", err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-pause():
		}
	}
}
