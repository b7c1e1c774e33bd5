//go:build linux

package faults_test

import (
	"testing"
	"time"
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

// The network swallows what is sent, and never tells: connections from before
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
