package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
)

const (
	// followerSockets have followersEach subscriptions each, as many as a socket may have.
	followerSockets, followersEach = 10, 100
	followedRate                   = 100
	// followedFirst is not measured: the server grows its buffers.
	followedFirst = 5 * time.Second
	// followedLate is how long events may come after the last was written.
	followedLate = 30 * time.Second
	// followedMost and followedSlowest are what the server may have resident in MB, and how
	// late one delivery of a hundred may be.
	followedMost    = 300
	followedSlowest = time.Second
	followedEvent   = `subscription {usageRecorded {subscriber {physicalId nickname} periodStart bytes usage}}`
)

// followed measures deliveries to followers of all usage of a company, first to one follower
// on each of a few sockets and then to a thousand.
func (b *bench) followed(ctx context.Context) error {
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Followers\n\n%d events a second to each follower of `usageRecorded`, over %s; %d followers on a WebSocket. CPU in cores.\n\n",
		followedRate, b.duration, followersEach)
	fmt.Fprintln(b.out, "| followers | offered/s | delivered/s | lost | p50 | p99 | latest | server: memory before and at most, MB | CPU | PostgreSQL | clients |")
	fmt.Fprintln(b.out, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, followers := range []int{1, followerSockets * followersEach} {
		if err = errors.Join(err, b.followedBy(ctx, token, followers)); ctx.Err() != nil {
			break
		}
	}
	return err
}

// followedBy prints the row of that many followers.
func (b *bench) followedBy(ctx context.Context, token string, followers int) error {
	server, err := startServer(ctx, b.simgraph, b.url, noLimits...)
	if err != nil {
		return err
	}
	defer server.stop()
	w := &followerWorld{bench: b, server: server, store: usage.New(b.pool, volume.NewEvaluator(time.Now), usage.Options{})}
	defer w.close()
	for left := followers; left > 0; left -= followersEach {
		if err := w.open(ctx, token, min(left, followersEach)); err != nil {
			return err
		}
	}
	before := resident(server.pid)
	if _, err := w.write(ctx, followedFirst); err != nil {
		return err
	}
	if missing := w.await(followers * w.written); missing == followers*w.written {
		return fmt.Errorf("no follower has got an event: %s", w.sockets[0].end())
	}
	w.forget()
	m, err := w.write(ctx, b.duration)
	if err != nil {
		return err
	}
	m.lost = w.await(m.events * followers)
	m.peak = max(m.peak, resident(server.pid))
	return w.report(followers, before, m)
}

// followerWorld is a server with its followers, and who writes usage.
type followerWorld struct {
	*bench
	server  *program
	store   *usage.Store
	sockets []*followerSocket
	written int
	// sent are when events were written, by the number of their subscriber.
	sent [followedSubscribers]atomic.Int64
}

// followedSubscribers take turns, so that no two events of one are on their way.
const followedSubscribers = 10_000

// followedFor is what was measured of a span.
type followedFor struct {
	events, lost, peak        int
	wall, cpu, database, self time.Duration
}

func (w *followerWorld) close() {
	for _, s := range w.sockets {
		s.close()
	}
}

func (w *followerWorld) open(ctx context.Context, token string, subscriptions int) error {
	s, err := dialFollowers(ctx, w.server.address, token, subscriptions)
	if err != nil {
		return err
	}
	w.sockets = append(w.sockets, s)
	go s.read(w.sent[:])
	return nil
}

// write books a record of usage at a time, at the rate.
func (w *followerWorld) write(ctx context.Context, span time.Duration) (m followedFor, err error) {
	began, cpu, database, self := time.Now(), w.server.cpu(), w.cpu.total(), ownCPU()
	tick := time.NewTicker(time.Second / followedRate)
	defer tick.Stop()
	source := newSource(int(nextSource.Add(1)), followedSubscribers, w.month.Start)
	var group sync.WaitGroup
	failed := make(chan error, 1)
	for ; time.Since(began) < span; m.events++ {
		if m.events%followedRate == 0 {
			m.peak = max(m.peak, resident(w.server.pid))
		}
		record := source.records(1)[0]
		n := w.written % followedSubscribers
		record.PhysicalID = fmt.Sprintf("8944%015d", n)
		w.written++
		w.sent[n].Store(time.Now().UnixNano())
		group.Go(func() {
			if _, err := w.store.Record(ctx, w.scope, []domain.UsageRecord{record}); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
		<-tick.C
	}
	group.Wait()
	m.wall, m.cpu, m.database, m.self = time.Since(began), w.server.cpu()-cpu, w.cpu.total()-database, ownCPU()-self
	select {
	case err = <-failed:
	default:
	}
	return m, err
}

// await waits until that many deliveries have come, and returns how many are missing.
func (w *followerWorld) await(wanted int) (missing int) {
	for end := time.Now().Add(followedLate); ; time.Sleep(20 * time.Millisecond) {
		missing = wanted
		for _, s := range w.sockets {
			missing -= s.count()
		}
		if missing <= 0 || time.Now().After(end) {
			return missing
		}
	}
}

func (w *followerWorld) forget() {
	for _, s := range w.sockets {
		s.mu.Lock()
		s.late = s.late[:0]
		s.mu.Unlock()
	}
}

func (w *followerWorld) report(followers, before int, m followedFor) error {
	var late []time.Duration
	for _, s := range w.sockets {
		s.mu.Lock()
		late = append(late, s.late...)
		s.mu.Unlock()
		if ended := s.end(); ended != "" {
			return fmt.Errorf("a subscription ended: %s", ended)
		}
	}
	if len(late) == 0 {
		return errors.New("nothing was delivered")
	}
	slices.Sort(late)
	at := func(share float64) time.Duration { return late[int(share*float64(len(late)-1))] }
	cores := func(used time.Duration) float64 { return used.Seconds() / m.wall.Seconds() }
	fmt.Fprintf(w.out, "| %d | %.0f | %.0f | %d | %s | %s | %s | %d, %d | %.2f | %.2f | %.2f |\n", followers,
		float64(m.events*followers)/m.wall.Seconds(), float64(len(late))/m.wall.Seconds(), m.lost, millis(at(0.5)), millis(at(0.99)), millis(at(1)),
		before, m.peak, cores(m.cpu), cores(m.database), cores(m.self))
	if m.peak > followedMost || at(0.99) > followedSlowest || m.lost > 0 {
		return fmt.Errorf("%d followers: more than %d MB, later than %s or lost", followers, followedMost, followedSlowest)
	}
	return nil
}
