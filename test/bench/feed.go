package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"simgraph/db/feed"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/radius"
	"simgraph/internal/seal"
)

const (
	// feedSessions are open while packets of them come.
	feedSessions = 100_000
	// feedSockets are ports that packets come from, each with feedWindow unanswered: as
	// many as RADIUS has identifiers for a port.
	feedSockets, feedWindow = 8, 256
	// feedBatch is that of the ledger alone: what so many senders make of a transaction.
	feedBatch = feedSockets * feedWindow
	// sweepsPerMinute is how often serve looks for silent sessions.
	sweepsPerMinute = 3
)

var feedSecret = []byte("a secret of the bench")

// feedBench is a listener with open sessions.
type feedBench struct {
	*bench
	usage    *usage.Store
	listener *radius.Listener
	sender   *feedSender
}

// fed measures RADIUS accounting: answers beside the ledger alone, memory over a
// million packets, and the search for silent sessions.
func (b *bench) fed(ctx context.Context) error {
	f := &feedBench{bench: b, usage: usage.New(b.pool, volume.NewEvaluator(time.Now), usage.Options{})}
	if err := f.open(ctx); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.listener.Run(running) }()
	time.Sleep(radius.RefreshClients / 4) // the clients are read first
	err := f.measure(ctx)
	stop()
	if ran := <-ended; err == nil {
		err = ran
	}
	return err
}

// open makes the client and the sessions.
func (f *feedBench) open(ctx context.Context) error {
	if _, err := f.pool.ExecContext(ctx, `UPDATE subscribers SET imsi = '2341500' || right(physical_id, 8) WHERE company_id = $1`, f.scope.Company); err != nil {
		return err
	}
	clients := feed.NewClients(f.pool, make([]byte, seal.KeySize))
	client := domain.RADIUSClient{Name: "bench", Network: netip.MustParsePrefix("127.0.0.1/32"), Secret: feedSecret}
	if err := clients.Create(ctx, f.scope, client); err != nil {
		return err
	}
	store := feed.New(f.pool, f.usage, clients)
	var err error
	if f.listener, err = radius.Listen(ctx, []string{"127.0.0.1:0"}, radius.Config{Feed: store, Log: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	f.sender = newFeedSender(f.listener.Addrs()[0], feedSessions, f.subscribers)
	// Each has an interim, too: most sessions that are open have transferred something.
	for _, records := range [][]domain.UsageRecord{f.sender.starts(), f.sender.firsts()} {
		for batch := range slices.Chunk(records, domain.MaxUsageBatch) {
			if err := accepted(f.usage.Record(ctx, f.scope, batch)); err != nil {
				return err
			}
		}
	}
	_, err = f.pool.ExecContext(ctx, "VACUUM ANALYZE sessions")
	return err
}

func (f *feedBench) measure(ctx context.Context) error {
	fmt.Fprintf(f.out, "\n## Feed\n\n%d open sessions of %d subscribers, interims over %d sockets with %d unanswered each.\n\n", feedSessions, f.subscribers, feedSockets, feedWindow)
	full, err := f.send(ctx, 0, f.duration)
	if err != nil {
		return err
	}
	half, err := f.send(ctx, full.rate()/2, f.duration)
	if err != nil {
		return err
	}
	ledger, err := newLedgerAlone(ctx, f.bench)
	if err != nil {
		return err
	}
	alone, err := f.during(ctx, 1, f.writer(1, feedBatch, ledger.insert))
	if err != nil {
		return err
	}
	fmt.Fprintln(f.out, "| packets | answered/s | p50 | p99 | lost | CPU of PostgreSQL a packet | of the server | ledger alone: records/s | CPU a record |")
	fmt.Fprintln(f.out, "|:--|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i, m := range []*answered{full, half} {
		fmt.Fprintf(f.out, "| %s | %.0f | %s | %s | %d | %s | %s | %.0f | %s |\n", []string{"as fast as they are answered", "at half that rate"}[i], m.rate(), millis(m.quantile(0.5)), millis(m.quantile(0.99)), m.lost,
			micros(m.each()), micros(m.own/time.Duration(max(m.records, 1))), alone.rate(), micros(alone.each()))
	}
	if err := f.sweep(ctx); err != nil {
		return err
	}
	return f.remember(ctx)
}

// send sends interims for a time, at a rate or, with 0, as fast as they are answered.
func (f *feedBench) send(ctx context.Context, rate float64, during time.Duration) (*answered, error) {
	runtime.GC()
	m := &answered{}
	began, cpu, own := time.Now(), f.cpu.total(), ownCPU()
	err := f.sender.run(ctx, rate, during, m)
	m.wall, m.cpu, m.own = time.Since(began), f.cpu.total()-cpu, ownCPU()-own
	m.own -= f.sender.making(int(m.records))
	return m, err
}

// sweep measures the search for silent sessions while none is.
func (f *feedBench) sweep(ctx context.Context) error {
	const rounds = 5
	cpu, began := f.cpu.total(), time.Now()
	for range rounds {
		if err := f.usage.EndSilent(ctx, 15*time.Minute); err != nil {
			return err
		}
	}
	each := (f.cpu.total() - cpu) / rounds
	var open int
	if err := f.pool.GetContext(ctx, &open, `SELECT count(*) FROM sessions WHERE ended_at IS NULL`); err != nil {
		return err
	}
	fmt.Fprintf(f.out, "\nThe search for silent sessions among %d takes %s, and %s of PostgreSQL's CPU a minute.\n", open, millis(time.Since(began)/rounds), millis(sweepsPerMinute*each))
	return nil
}

// remember prints memory over many packets.
func (f *feedBench) remember(ctx context.Context) error {
	if f.packets == 0 {
		return nil
	}
	const parts = 10
	total := &answered{}
	fmt.Fprintf(f.out, "\nResident memory and heap of listener and senders over %d packets, in MB:", f.packets)
	for range parts {
		m := &answered{}
		if err := f.sender.count(ctx, f.packets/parts, m); err != nil {
			return err
		}
		total.records += m.records
		runtime.GC()
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		fmt.Fprintf(f.out, " %d/%d", resident(os.Getpid()), heap.HeapInuse>>20)
	}
	fmt.Fprintf(f.out, ". %d were answered.\n", total.records)
	return nil
}
