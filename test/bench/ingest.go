package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/db/usage"
	"simgraph/domain"
)

// measured is a rate with what it cost the database, and its writers.
type measured struct {
	records  int64
	wall     time.Duration
	cpu, own time.Duration
}

func (m measured) rate() float64 { return float64(m.records) / m.wall.Seconds() }

// each is the CPU time of the database for one record.
func (m measured) each() time.Duration { return m.cpu / time.Duration(max(m.records, 1)) }

// all is that of the database and of the writers.
func (m measured) all() time.Duration { return (m.cpu + m.own) / time.Duration(max(m.records, 1)) }

// during runs writers until the time is over. A writer returns how many records
// it wrote.
func (b *bench) during(ctx context.Context, writers int, write func(ctx context.Context, writer int) (int, error)) (measured, error) {
	var records atomic.Int64
	began, cpu, own := time.Now(), b.cpu.total(), ownCPU()
	group, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		group.Go(func() error {
			for time.Since(began) < b.duration {
				n, err := write(ctx, w)
				if err != nil {
					return err
				}
				records.Add(int64(n))
			}
			return nil
		})
	}
	err := group.Wait()
	m := measured{records: records.Load(), wall: time.Since(began), cpu: b.cpu.total() - cpu, own: ownCPU() - own}
	m.own -= b.making(m.records)
	return m, err
}

// making is the CPU time that it takes to make up records.
func (b *bench) making(records int64) time.Duration {
	began, from := ownCPU(), newSource(0, b.subscribers, b.month.Start)
	for range records / domain.MaxUsageBatch {
		from.records(domain.MaxUsageBatch)
	}
	return ownCPU() - began
}

// ingest measures the ways in beside the insert into the ledger alone, by the
// same driver, and beside single inserts by pgbench.
func (b *bench) ingest(ctx context.Context) error {
	ledger, err := newLedgerAlone(ctx, b)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "## Ingest\n\n%d subscribers in 200 groups, all totals kept. CPU is that of the database, and with its writers.\n\n", b.subscribers)
	fmt.Fprintln(b.out, "| batch | writers | records/s | CPU a record | with writers | ledger alone: records/s | CPU a record | with writers | ratio | with writers |")
	fmt.Fprintln(b.out, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, batch := range []int{1, 100, domain.MaxUsageBatch} {
		for _, writers := range []int{1, 4} {
			if err := b.ingestRow(ctx, ledger, batch, writers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) ingestRow(ctx context.Context, ledger *ledgerAlone, batch, writers int) error {
	store := usage.New(b.pool, nil, usage.Options{})
	alone, err := b.during(ctx, writers, b.writer(writers, batch, ledger.insert))
	if err != nil {
		return err
	}
	// A call of more than the coalescer takes makes a transaction of its own.
	whole, err := b.during(ctx, writers, b.writer(writers, batch, func(ctx context.Context, records []domain.UsageRecord) error {
		return accepted(store.Record(ctx, b.scope, records))
	}))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| %d | %d | %.0f | %s | %s | %.0f | %s | %s | %s | %s |\n", batch, writers,
		whole.rate(), micros(whole.each()), micros(whole.all()), alone.rate(), micros(alone.each()), micros(alone.all()),
		ratio(whole.each(), alone.each()), ratio(whole.all(), alone.all()))
	return nil
}

// writer returns a function that writes batches, each writer from a source of
// its own. Sources are never the same twice, so that nothing is a duplicate.
func (b *bench) writer(writers, batch int, write func(context.Context, []domain.UsageRecord) error) func(context.Context, int) (int, error) {
	sources := make([]*source, writers)
	for w := range sources {
		sources[w] = newSource(int(nextSource.Add(1)), b.subscribers, b.month.Start.Add(time.Duration(w)*time.Hour))
	}
	return func(ctx context.Context, w int) (int, error) {
		return batch, write(ctx, sources[w].records(batch))
	}
}

var nextSource atomic.Int64

func accepted(results []domain.Recorded, err error) error {
	for _, r := range results {
		if err == nil && r.Status != domain.UsageAccepted {
			err = fmt.Errorf("a record is %s, not accepted", r.Status)
		}
	}
	return err
}

// singles measures records that come one by one from many clients.
func (b *bench) singles(ctx context.Context) error {
	const clients = 64
	store := usage.New(b.pool, nil, usage.Options{})
	one := func(ctx context.Context, records []domain.UsageRecord) error {
		return accepted(store.Record(ctx, b.scope, records))
	}
	shared, err := b.during(ctx, clients, b.writer(clients, 1, one))
	if err != nil {
		return err
	}
	apart, err := b.during(ctx, clients, b.writer(clients, 1, func(ctx context.Context, records []domain.UsageRecord) error {
		return accepted(usage.New(b.pool, nil, usage.Options{}).Record(ctx, b.scope, records))
	}))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nSingle records of %d clients: %.0f/s with shared transactions, %.0f/s each in its own: %.1f ×.\n",
		clients, shared.rate(), apart.rate(), shared.rate()/apart.rate())
	return b.singlesByPgbench(ctx)
}

const pgbenchScript = `\set n random(1, 9223372036854775806)
INSERT INTO ledger_alone VALUES (1, now(), md5(:n::text)::uuid, 1, now(), 1, 1, 0, '10.0.0.1', 'TCP', 's', 'p', :n::text);
`

// singlesByPgbench measures what single inserts cost the database itself.
func (b *bench) singlesByPgbench(ctx context.Context) error {
	path, err := exec.LookPath("pgbench")
	if err != nil {
		fmt.Fprintln(b.out, "\npgbench is not installed: no ceiling for single inserts.")
		return nil
	}
	script, err := os.CreateTemp("", "simgraph-*.sql")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(script.Name()) }()
	if _, err := script.WriteString(pgbenchScript); err != nil {
		return err
	}
	if err := script.Close(); err != nil {
		return err
	}
	seconds := fmt.Sprint(max(1, int(b.duration/time.Second)))
	out, err := exec.CommandContext(ctx, path, "-n", "-M", "prepared", "-c", "4", "-T", seconds, "-f", script.Name(), b.url).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pgbench: %w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "tps = ") {
			fmt.Fprintf(b.out, "\nSingle inserts into the ledger alone by pgbench, 4 clients: %s/s.\n", strings.Fields(line)[2])
		}
	}
	return nil
}
