//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/embedded"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// database is a PostgreSQL that a test controls. To simgraph it is an external
// one, reached by its address.
type database struct {
	t   *testing.T
	dir string

	mu     sync.Mutex
	server *embedded.Server
}

// modest keeps many databases small; what makes data durable stays on.
var modest = map[string]string{
	"shared_buffers":  "32MB",
	"max_connections": "60",
	"min_wal_size":    "32MB",
	"max_wal_size":    "128MB",
}

// newDatabase starts a database that holds the company.
func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{t: t, dir: dataDir(t)}
	d.start()
	t.Cleanup(func() { _ = d.server.Close() })
	return d
}

// dataDir is a data directory with the company in it, where no server runs.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := dbtest.Dir(t, room)
	fill(t, dir)
	return dir
}

// fill makes dir a copy of the prepared data directory.
func fill(t *testing.T, dir string) {
	t.Helper()
	from, err := prepared()
	fatal.If(t, err)
	if out, err := exec.Command("cp", "-a", from+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (d *database) start() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	server, err := embedded.Start(context.WithoutCancel(d.t.Context()), embedded.Config{Dir: d.dir, Settings: modest, Purpose: "test"})
	fatal.If(d.t, err)
	d.server = server
}

func (d *database) url() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server.URL()
}

// stop ends the server as SIGINT does: sessions are ended, nothing is waited for.
func (d *database) stop() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	fatal.If(d.t, d.server.Close())
}

// crash ends the server's main process by the signal, and waits for its end.
func (d *database) crash(signal syscall.Signal) {
	d.t.Helper()
	fatal.If(d.t, syscall.Kill(postmaster(d.t, d.dir), signal))
	<-d.server.Done()
	_ = d.server.Close() // it has ended already
}

// ended reports whether the server ends by itself within a while.
func (d *database) ended(within time.Duration) bool {
	select {
	case <-d.server.Done():
		return true
	case <-time.After(within):
		return false
	}
}

// signal sends the signal to all processes of the server.
func (d *database) signal(signal syscall.Signal) {
	for _, pid := range family(postmaster(d.t, d.dir)) {
		_ = syscall.Kill(pid, signal) // some end meanwhile
	}
}

// open returns a pool for the checks of a test.
func (d *database) open() *sqlx.DB {
	d.t.Helper()
	return open(d.t, d.url())
}

func open(t *testing.T, url string) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 2})
	fatal.If(t, err)
	t.Cleanup(func() { pool.Close() })
	return pool
}

// postmaster is the main process of the server on a data directory.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	fatal.If(t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	fatal.If(t, err)
	return pid
}

// family is a process with its children.
func family(parent int) []int {
	pids := []int{parent}
	stats, _ := fs.Glob(os.DirFS("/proc"), "[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(filepath.Join("/proc", name))
		if err != nil {
			continue // it has ended
		}
		// The name of the program stands in parentheses and may hold anything.
		rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
		var state string
		var ppid int
		if _, err := fmt.Sscan(rest, &state, &ppid); err == nil && ppid == parent {
			pid, _ := strconv.Atoi(filepath.Dir(name))
			pids = append(pids, pid)
		}
	}
	return pids
}
