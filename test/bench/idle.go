package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"simgraph/internal/pace"
)

const (
	// idleFor is how long a server that nobody uses is watched.
	idleFor = time.Minute
	// idleMost is what it may ask of the database, in transactions a second.
	idleMost = 1.0
)

const transactionsAsked = `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`

// idle counts what a server asks of the database while nobody uses it.
func (b *bench) idle(ctx context.Context) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	server, err := started(ctx, exec.CommandContext(ctx, b.simgraph, "serve", "--database-url", b.url, "--addr", address, "--log-level", "error"), address)
	if err != nil {
		return err
	}
	defer server.stop()
	count := func() (n int) {
		if err == nil {
			err = b.pool.GetContext(ctx, &n, transactionsAsked)
		}
		return n
	}
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err())
		case <-time.After(d):
		}
	}
	pause(pace.Quiet + pace.Rest)
	asked, cpu, own := count(), b.cpu.total(), server.cpu()
	pause(idleFor)
	asked, cpu, own = count()-asked, b.cpu.total()-cpu, server.cpu()-own
	if err != nil {
		return err
	}
	rate := float64(asked) / idleFor.Seconds()
	fmt.Fprintf(b.out, "\n## Idle\n\nA server that nobody uses asks for %.2f transactions a second, which take %.1f ms of PostgreSQL's CPU a second and %.1f ms of its own. Resident memory: %d MB.\n",
		rate, 1000*cpu.Seconds()/idleFor.Seconds(), 1000*own.Seconds()/idleFor.Seconds(), resident(server.pid))
	if rate > idleMost {
		return fmt.Errorf("an idle server asks for more than %.1f transactions a second", idleMost)
	}
	return nil
}
