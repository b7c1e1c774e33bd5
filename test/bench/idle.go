package main

import (
	"context"
	"fmt"
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
	server, err := startServer(ctx, b.simgraph, b.url)
	if err != nil {
		return err
	}
	defer server.stop()
	before, err := b.askedAfter(ctx, pace.Quiet+pace.Rest)
	if err != nil {
		return err
	}
	cpu, own := b.cpu.total(), server.cpu()
	after, err := b.askedAfter(ctx, idleFor)
	if err != nil {
		return err
	}
	cpu, own = b.cpu.total()-cpu, server.cpu()-own
	rate := float64(after-before) / idleFor.Seconds()
	fmt.Fprintf(b.out, "\n## Idle\n\nA server that nobody uses asks for %.2f transactions a second, which take %.1f ms of PostgreSQL's CPU a second and %.1f ms of its own. Resident memory: %d MB.\n",
		rate, 1000*cpu.Seconds()/idleFor.Seconds(), 1000*own.Seconds()/idleFor.Seconds(), resident(server.pid))
	if rate > idleMost {
		return fmt.Errorf("an idle server asks for more than %.1f transactions a second", idleMost)
	}
	return nil
}

// askedAfter waits, and returns how many transactions the database had until then.
func (b *bench) askedAfter(ctx context.Context, pause time.Duration) (transactions int, err error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(pause):
		err = b.pool.GetContext(ctx, &transactions, transactionsAsked)
		return transactions, err
	}
}
