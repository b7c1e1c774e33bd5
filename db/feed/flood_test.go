package feed_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// newCountedFeed is a feed whose statements are counted, on a few connections. Each
// statement calls hold first.
func newCountedFeed(t *testing.T, hold func(context.Context)) (*feedFixture, *atomic.Int64) {
	statements := new(atomic.Int64)
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 4, Observe: func(ctx context.Context, _ string) {
		statements.Add(1)
		hold(ctx)
	}})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := &feedFixture{UsageFleet: fleettest.NewUsageFleetOn(t, pool, "acme", 1), now: fleettest.UsageNow}
	f.Usage = usage.New(pool, nil, usage.Options{Now: func() time.Time { return f.now }})
	f.clients = feed.NewClients(pool, []byte(strings.Repeat("k", seal.KeySize)))
	f.feed = feed.New(pool, f.Usage, f.clients)
	f.addClient(f.Scope, "pgw")
	return f, statements
}

// flood is many requests at a time. However fast the machine is, they come while the
// database works: a statement is held until each request is answered or waits.
type flood struct {
	requests        int
	begun, answered atomic.Int64
	flooding        atomic.Bool
}

func (f *flood) hold(ctx context.Context) {
	for f.flooding.Load() && ctx.Err() == nil && !f.allWait() {
		time.Sleep(20 * time.Millisecond)
	}
}

func (f *flood) allWait() bool {
	return int(f.begun.Load()) == f.requests && int(f.answered.Load())+requestsThatWait() == f.requests
}

func (f *flood) run(send func(n int)) {
	f.begun.Store(0)
	f.answered.Store(0)
	f.flooding.Store(true)
	defer f.flooding.Store(false)
	var sending sync.WaitGroup
	for n := range f.requests {
		sending.Go(func() {
			f.request(send, n)
			f.answered.Add(1)
		})
	}
	sending.Wait()
}

func (f *flood) request(send func(n int), n int) {
	f.begun.Add(1)
	send(n)
}

// requestsThatWait counts the goroutines that are blocked below request.
func requestsThatWait() int {
	stacks := make([]byte, 1<<20)
	for {
		if n := runtime.Stack(stacks, true); n < len(stacks) {
			stacks = stacks[:n]
			break
		}
		stacks = make([]byte, 2*len(stacks))
	}
	waiting := 0
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		state, frames, _ := bytes.Cut(stack, []byte("\n"))
		if bytes.Contains(state, []byte("[select")) && bytes.Contains(frames, []byte("(*flood).request")) {
			waiting++
		}
	}
	return waiting
}

// However many requests come at a time, the database gets few statements, and each
// request is answered once what it states is committed.
func TestAFloodOfRequestsTakesFewStatements(t *testing.T) {
	t.Parallel()
	const requests = 1_000
	flood := &flood{requests: requests}
	f, statements := newCountedFeed(t, flood.hold)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "zenith", 1)
	f.addClient(other.Scope, "pgw") // so that the owner is looked up
	clients := fleettest.Must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	for name, send := range map[string]func(n int) error{
		"unusable": func(n int) error {
			a := domain.Accounting{NAS: fmt.Sprintf("nas%d", n%50), At: f.now, Unusable: "no reason"}
			_, err := f.feed.Account(t.Context(), clients, a)
			return err
		},
		"restarted": func(n int) error {
			_, err := f.feed.Account(t.Context(), clients, domain.Accounting{NAS: fmt.Sprintf("nas%d", n%50), At: f.now, Restarted: true})
			return err
		},
		"unknown": func(n int) error {
			_, err := f.feed.Account(t.Context(), clients, f.of(fmt.Sprint(n%50), 10, 5))
			return err
		},
		"by address": func(n int) error {
			a := f.of("", 10, 5)
			a.NAS, a.FixedAddresses = "address", []string{fmt.Sprintf("10.1.2.%d", n%50)}
			_, err := f.feed.Account(t.Context(), clients, a)
			return err
		},
		"status": func(int) error { return f.feed.Writable(t.Context()) },
	} {
		before := statements.Load()
		flood.run(func(n int) {
			if err := send(n); err != nil {
				t.Error(err)
			}
		})
		if n := statements.Load() - before; n > requests/20 {
			t.Errorf("%d requests, %s, took %d statements", requests, name, n)
		}
	}
	if n := f.Int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != 2*requests {
		t.Errorf("%d are kept of %d", n, 2*requests)
	}
}

// One that asks on its own, again and again, is a flood, too: its statements are as
// many as its time has quarters of a second.
func TestAFloodOfStatusInTurnsTakesFewStatements(t *testing.T) {
	t.Parallel()
	const requests = 3_000
	f, statements := newCountedFeed(t, func(context.Context) {})
	before, begin := statements.Load(), time.Now()
	for range requests {
		fatal.If(t, f.feed.Writable(t.Context()))
	}
	if n, most := statements.Load()-before, 1+int64(time.Since(begin)/(250*time.Millisecond)); n > most {
		t.Errorf("%d requests took %d statements, of %d", requests, n, most)
	}
}

// That requests can be stored counts for a moment, that they cannot for none.
func TestStatusFollowsWhetherTheDatabaseTakesWrites(t *testing.T) {
	t.Parallel()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 1})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := feed.New(pool, usage.New(pool, nil, usage.Options{}), nil)
	fatal.If(t, f.Writable(t.Context()))
	pool.MustExec(`SET default_transaction_read_only = on`)
	for f.Writable(t.Context()) == nil {
		if t.Context().Err() != nil {
			t.Fatal("it is answered for ever")
		}
		time.Sleep(10 * time.Millisecond)
	}
	pool.MustExec(`SET default_transaction_read_only = off`)
	if err := f.Writable(t.Context()); err != nil {
		t.Error(err)
	}
}

// What is not committed is an error, and is not counted.
func TestRejectsThatCannotBeWrittenAreErrors(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	clients := fleettest.Must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	f.Pool.MustExec(`ALTER TABLE feed_rejects RENAME TO away`)
	reject := func() error {
		_, err := f.feed.Account(t.Context(), clients, domain.Accounting{NAS: "nas", At: f.now, Unusable: "no reason"})
		return err
	}
	if reject() == nil {
		t.Error("a reason is kept nowhere")
	}
	f.Pool.MustExec(`ALTER TABLE away RENAME TO feed_rejects`)
	if err := reject(); err != nil {
		t.Error(err)
	}
	if n := f.Int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != 1 {
		t.Errorf("%d are kept", n)
	}
}

// A sender chooses the reasons, too: there are as many as it has numbers.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	clients := fleettest.Must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	var sending sync.WaitGroup
	for n := range 3_000 {
		sending.Go(func() {
			if _, err := f.feed.Account(t.Context(), clients, domain.Accounting{NAS: "nas", At: f.now, Unusable: fmt.Sprintf("reason %d", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	if n := f.Int(`SELECT count(*) FROM feed_rejects WHERE company_id = $1`); n > 1001 {
		t.Errorf("%d reasons", n)
	}
	if n := f.Int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != 3_000 {
		t.Errorf("%d are kept", n)
	}
}
