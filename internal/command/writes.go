package command

import (
	"context"
	"log/slog"
	"sync"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// writes follows whether the database takes writes: cloud services make one
// read-only when its disk is full.
type writes struct {
	pool *sqlx.DB
	log  *slog.Logger

	mu sync.Mutex
	// refused is why they were refused last; "" while they are taken.
	refused string
}

// look asks the database, logs a change, and returns why writes are refused, or
// "". While the database cannot be reached, the last answer holds.
func (w *writes) look(ctx context.Context) string {
	reason, err := pg.ReadOnly(ctx, w.pool)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || reason == w.refused {
		return w.refused
	}
	w.refused = reason
	if reason == "" {
		w.log.InfoContext(ctx, "the database takes writes again")
	} else {
		w.log.WarnContext(ctx, "the database is read-only: writes are refused with UNAVAILABLE, reads are answered", "reason", reason)
	}
	return reason
}

// work is look as a worker's.
func (w *writes) work(ctx context.Context) error {
	w.look(ctx)
	return nil
}
