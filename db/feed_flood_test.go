package db_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/feed"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/seal"
)

// newCountedFeed is a feed whose statements are counted, on a few connections.
func newCountedFeed(t *testing.T) (*feedFixture, *atomic.Int64) {
	statements := new(atomic.Int64)
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 4, Observe: func(context.Context, string) { statements.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	f := &feedFixture{usageFleet: newUsageFleetOn(t, pool, "acme", 1), now: usageNow}
	f.usage = usage.New(pool, nil, usage.Options{Now: func() time.Time { return f.now }})
	f.clients = feed.NewClients(pool, []byte(strings.Repeat("k", seal.KeySize)))
	f.feed = feed.New(pool, f.usage, f.clients)
	f.addClient(f.scope, "pgw")
	return f, statements
}

// However many requests come at a time, the database gets few statements, and each
// request is answered once what it states is committed.
func TestAFloodOfRequestsTakesFewStatements(t *testing.T) {
	t.Parallel()
	const requests = 3_000
	f, statements := newCountedFeed(t)
	other := newUsageFleetOn(t, f.pool, "zenith", 1)
	f.addClient(other.scope, "pgw") // so that the owner is looked up
	clients := must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
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
		"status": func(int) error { return f.feed.Writable(t.Context()) },
	} {
		before := statements.Load()
		begin := make(chan struct{}) // on a busy machine some are answered before others begin
		var sending sync.WaitGroup
		for n := range requests {
			sending.Go(func() {
				<-begin
				if err := send(n); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		sending.Wait()
		if n := statements.Load() - before; n > requests/10 {
			t.Errorf("%d requests, %s, took %d statements", requests, name, n)
		}
	}
	if n := f.int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != requests {
		t.Errorf("%d are kept of %d", n, requests)
	}
}

// What is not committed is an error, and is not counted.
func TestRejectsThatCannotBeWrittenAreErrors(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	clients := must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	f.pool.MustExec(`ALTER TABLE feed_rejects RENAME TO away`)
	reject := func() error {
		_, err := f.feed.Account(t.Context(), clients, domain.Accounting{NAS: "nas", At: f.now, Unusable: "no reason"})
		return err
	}
	if reject() == nil {
		t.Error("a reason is kept nowhere")
	}
	f.pool.MustExec(`ALTER TABLE away RENAME TO feed_rejects`)
	if err := reject(); err != nil {
		t.Error(err)
	}
	if n := f.int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != 1 {
		t.Errorf("%d are kept", n)
	}
}

// A sender chooses the reasons, too: there are as many as it has numbers.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	clients := must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	var sending sync.WaitGroup
	for n := range 3_000 {
		sending.Go(func() {
			if _, err := f.feed.Account(t.Context(), clients, domain.Accounting{NAS: "nas", At: f.now, Unusable: fmt.Sprintf("reason %d", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	if n := f.int(`SELECT count(*) FROM feed_rejects WHERE company_id = $1`); n > 1001 {
		t.Errorf("%d reasons", n)
	}
	if n := f.int(`SELECT sum(requests)::bigint FROM feed_rejects WHERE company_id = $1`); n != 3_000 {
		t.Errorf("%d are kept", n)
	}
}
