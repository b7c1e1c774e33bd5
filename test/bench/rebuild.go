package main

import (
	"context"
	"fmt"
	"time"

	"simgraph/db/usage"
)

const (
	// rebuiltDays are over how many days the records are, and rebuiltMost what each run may
	// take of CPU.
	rebuiltDays = 380
	rebuiltMost = 5 * time.Minute
)

// rebuild derives all totals of a ledger from nothing, as after a restore without totals, and
// then checks them, as after any restore.
func (b *bench) rebuild(ctx context.Context) error {
	store := usage.New(b.pool, nil, usage.Options{})
	if _, err := b.pool.ExecContext(ctx, clearUsage); err != nil {
		return err
	}
	if _, err := b.pool.ExecContext(ctx, bulkProtocols, b.scope.Company); err != nil {
		return err
	}
	start := b.month.End.AddDate(0, 0, -rebuiltDays)
	// The first record of a month makes its partition.
	for n, at := 0, start; at.Before(b.month.End); n, at = n+1, at.AddDate(0, 0, 15) {
		if _, err := store.Record(ctx, b.scope, newSource(200+n, b.subscribers, at).records(1)); err != nil {
			return err
		}
	}
	if err := b.bulk(ctx, 0, b.rebuilt, start, rebuiltDays*24*time.Hour); err != nil {
		return err
	}
	if _, err := b.pool.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Rebuild: %d records of %d subscribers over %d days\n\n| run | totals that differed | CPU of PostgreSQL | of the command |\n|---|--:|--:|--:|\n",
		b.rebuilt, b.subscribers, rebuiltDays)
	for _, run := range []string{"from nothing", "a check"} {
		database, own := b.cpu.total(), ownCPU()
		_, differ, err := store.Rebuild(ctx, b.scope)
		if err != nil {
			return err
		}
		database, own = b.cpu.total()-database, ownCPU()-own
		fmt.Fprintf(b.out, "| %s | %d | %.0f s | %.0f s |\n", run, differ, database.Seconds(), own.Seconds())
		if database+own > rebuiltMost {
			return fmt.Errorf("%s takes more than %s of CPU", run, rebuiltMost)
		}
	}
	return nil
}
