//go:build linux

package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/internal/fatal"
)

func TestConnectionsAreTerminatedByTheDatabase(t *testing.T) {
	t.Parallel()
	x, d := onDatabase(t)
	x.begin()
	admin := d.open()
	const terminate = `
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	for range 20 {
		if _, err := admin.ExecContext(t.Context(), terminate); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	x.recovers(time.Now())
	x.flow(300)
	x.finish("connections terminated, 20 times in 4 s", d.url())
}

func TestTheNetworkToTheDatabaseBreaks(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	network, url := newProxy(t, d)
	x := newTrial(t, launch{databaseURL: url, dataDir: t.TempDir()})
	x.begin()
	for range 10 {
		network.reset()
		time.Sleep(200 * time.Millisecond)
	}
	network.refuses.Store(true)
	network.reset()
	time.Sleep(2 * time.Second)
	network.refuses.Store(false)
	x.recovers(time.Now())
	x.flow(300)
	x.finish("connections reset, then refused for 2 s", d.url())
}

// The network swallows what is sent, without an error: connections from before
// stay open and silent. Statements may run for 3 s here.
func TestTheNetworkToTheDatabaseIsABlackHole(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	network, url := newProxy(t, d)
	x := newTrial(t, launch{databaseURL: url, dataDir: t.TempDir(), extra: []string{"--statement-timeout", "3s"}})
	x.begin()
	network.swallow(4 * time.Second)
	x.recovers(time.Now())
	x.flow(300)
	x.finish("network a black hole for 4 s, connections forgotten", d.url())
}

// occupy opens connections until the server refuses one.
func occupy(t *testing.T, url string) {
	t.Helper()
	pool, err := sql.Open("postgres", url)
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	for {
		_, err := pool.Conn(t.Context())
		switch {
		case pq.As(err, pqerror.TooManyConnections) != nil:
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

func TestAStatementIsCancelledWhileTheDatabaseTakesNoMoreConnections(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	s := serve(t, launch{databaseURL: d.url(), dataDir: t.TempDir(), extra: []string{
		"--mail-wait", "1h", "--statement-timeout", "0s", "--request-timeout", "0s", // nothing else may end it
	}})
	c := newCaller(t, s.base)
	// No worker has a statement that reads this.
	const path, column = "/subscribers?limit=20", "s.contract_length AS"
	var page any
	for range 2 { // the second time the statement is prepared
		if result := c.get(t.Context(), path, &page); result != done {
			t.Fatalf("a list: %v", c.wrong)
		}
	}
	pool := d.open()
	release := hold(t, pool)
	defer release()
	// The pool keeps the connection of this for later: it gets no other.
	eventually(t, "nothing waits yet", func() bool { return workingOn(t, pool, column) == 0 })
	occupy(t, d.url())
	ctx, vanish := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := c.send(ctx, "GET", path, "", nil)
		ended <- err
	}()
	eventually(t, "the statement waits", func() bool { return workingOn(t, pool, column) == 1 })
	vanish()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request: %v", err)
	}
	eventually(t, "the statement has ended, while what it waits for is still held", func() bool { return workingOn(t, pool, column) == 0 })
}
