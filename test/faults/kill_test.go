//go:build linux

package faults_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

// kills is how often a process is killed in a loop.
const kills = 4

func TestSimgraphIsKilledOnAnExternalDatabase(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	x := newTrial(t, launch{databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t)})
	x.killLoop()
	x.finish("simgraph killed 4 times, external database", d.url())
}

func TestSimgraphIsKilledWithItsDatabase(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	x := newTrial(t, launch{dataDir: dir, addr: freeAddress(t)})
	x.killLoop()
	x.finish("simgraph killed 4 times, embedded database", embeddedURL(t, dir))
}

// killLoop kills simgraph under load, each time at another moment, and starts
// it again at once.
func (x *trial) killLoop() {
	x.t.Helper()
	x.load.mayCut = true
	x.begin()
	for range kills {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		x.simgraph.kill()
		x.restart()
		x.flow(300)
	}
	x.before = x.simgraph.level()
}

// restart starts simgraph again and notes how long it takes to answer.
func (x *trial) restart() {
	x.t.Helper()
	began := time.Now()
	x.simgraph = serve(x.t, x.launch)
	eventually(x.t, "the service answers", func() bool { return x.load.answers(x.t.Context()) })
	x.again = max(x.again, x.inTime("it answered after its start", began, x.starting+x.answering))
}

func TestProcessesOfTheEmbeddedDatabaseAreKilled(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	x := newTrial(t, launch{dataDir: dir, addr: freeAddress(t)})
	x.load.mayCut = true
	x.begin()
	server := postmaster(t, dir)
	// A session that is killed makes PostgreSQL end all others, and recover.
	fatal.If(t, syscall.Kill(session(t, dir), syscall.SIGKILL))
	x.recovers(time.Now())
	x.flow(300)
	if postmaster(t, dir) != server {
		t.Error("the database was started anew")
	}
	// Without its main process simgraph ends, and logs why: its supervisor
	// starts it again.
	fatal.If(t, syscall.Kill(server, syscall.SIGKILL))
	select {
	case <-x.simgraph.exited:
	case <-time.After(patience):
		t.Fatal("simgraph serves on without its database")
	}
	if x.simgraph.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v: %s", x.simgraph.cmd.ProcessState, x.simgraph.stderr)
	}
	x.restart()
	x.before = x.simgraph.level()
	x.flow(300)
	x.finish("embedded database: a session killed, then its main process", embeddedURL(t, dir))
}

// session is a process of the server that answers a client.
func session(t *testing.T, dir string) int {
	t.Helper()
	pool := open(t, embeddedURL(t, dir))
	var pid int
	const query = `
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'simgraph' AND pid <> pg_backend_pid() ORDER BY state_change DESC LIMIT 1`
	fatal.If(t, pool.GetContext(t.Context(), &pid, query))
	return pid
}

// embeddedURL is the address of the database that a simgraph runs on dir.
func embeddedURL(t *testing.T, dir string) string {
	t.Helper()
	guest, err := embedded.Attach(t.Context(), embedded.Config{Dir: dir, Purpose: "test"})
	fatal.If(t, err)
	t.Cleanup(func() { _ = guest.Close() })
	return guest.URL()
}
