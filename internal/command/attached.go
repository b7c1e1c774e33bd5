package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/jmoiron/sqlx"

	"simgraph/db/embedded"
	"simgraph/db/pg"
)

// errAbandoned ends a start of the server on the database of a command that was
// killed meanwhile.
var errAbandoned = errors.New("the simgraph command that ran the database was killed")

// attached is the database of the server; embedded is nil where one was named.
type attached struct {
	url      string
	embedded *embedded.Server
	env      *Env
}

// database starts the embedded server, or shares it with a command, unless another
// one was named. When it ends by itself, stop gets the reason.
func (e *Env) database(ctx context.Context, stop context.CancelCauseFunc) (*attached, error) {
	if e.DatabaseURL != "" {
		return &attached{url: e.DatabaseURL}, nil
	}
	server, err := embedded.Start(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: "serve"})
	if err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-server.Done():
			stop(fmt.Errorf("%w: %w", errDatabaseStopped, server.Err()))
		case <-ctx.Done():
		}
	}()
	return &attached{server.URL(), server, e}, nil
}

// takeOver lets the command end that runs the database, if one does.
func (a *attached) takeOver() {
	if a.embedded != nil {
		a.embedded.TakeOver()
	}
}

// close stops the embedded database or leaves it to the command that runs it. It
// returns errAbandoned when err came from the death of that command.
func (a *attached) close(err error) error {
	if a.embedded == nil {
		return err
	}
	if err != nil && a.embedded.Abandoned() {
		err = fmt.Errorf("%w: %w", errAbandoned, err)
	}
	a.env.warn("stop the database", a.embedded.Close())
	return err
}

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
