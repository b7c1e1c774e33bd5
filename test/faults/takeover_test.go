//go:build linux

package faults_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// importing is an import that reads from a pipe.
type importing struct {
	t              *testing.T
	cmd            *exec.Cmd
	in             io.WriteCloser
	stdout, stderr transcript
	exited         chan struct{}
}

// startImport imports to a data directory, by way of other programs if any.
func startImport(t *testing.T, dir string, by ...string) *importing {
	t.Helper()
	i := &importing{t: t, exited: make(chan struct{})}
	line := slices.Concat(by, []string{program, "import", "-", "--data-dir", dir})
	i.cmd = exec.Command(line[0], line[1:]...)
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if i.in, err = i.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, i.cmd.Start())
	go func() { _ = i.cmd.Wait(); close(i.exited) }()
	t.Cleanup(func() { _ = i.cmd.Process.Kill(); <-i.exited })
	return i
}

func (i *importing) write(lines string) {
	i.t.Helper()
	if _, err := io.WriteString(i.in, lines); err != nil {
		i.t.Fatalf("%v: %s", err, &i.stderr)
	}
}

// end closes the pipe and returns the exit status.
func (i *importing) end() int {
	i.t.Helper()
	_ = i.in.Close()
	select {
	case <-i.exited:
	case <-time.After(patience):
		i.t.Fatalf("the import does not end: %s", &i.stderr)
	}
	return i.cmd.ProcessState.ExitCode()
}

func (i *importing) kill() {
	_ = i.cmd.Process.Kill()
	<-i.exited
}

const acme = `{"type":"company","id":"acme","name":"Acme Ltd"}` + "\n"

func groupLine(id int) string {
	return fmt.Sprintf(`{"type":"group","company":"acme","id":%d,"name":"Group %d"}`+"\n", id, id)
}

// served starts a server on the directory of a command.
func served(t *testing.T, dir string) *node {
	t.Helper()
	n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: dir}}
	n.addr = n.launch.addr
	n.start()
	return n
}

// databaseOn is the main process of the database on a directory, 0 without one.
func databaseOn(dir string) (pid int) {
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err == nil {
		_, _ = fmt.Sscan(string(text), &pid)
	}
	return pid
}

// imported counts the groups that were imported.
func imported(t *testing.T, dir string) int {
	t.Helper()
	return strings.Count(run(t, "export", "--company", "acme", "--data-dir", dir), `"type":"group"`)
}

func TestAServerStartsBesideACommandThatWaits(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	i := startImport(t, dir)
	eventually(t, "the command runs the database", func() bool { return databaseOn(dir) != 0 })
	of := databaseOn(dir)
	n := served(t, dir)
	if databaseOn(dir) != of {
		t.Fatal("the server has another database than the command")
	}
	i.write(acme + groupLine(1))
	if status := i.end(); status != 0 || !strings.Contains(i.stdout.String(), "group") {
		t.Fatalf("%d %s %s", status, &i.stdout, &i.stderr)
	}
	eventually(t, "the server runs the database", func() bool {
		pid := databaseOn(dir)
		return pid != 0 && pid != of && probe(n.addr)
	})
	if got := imported(t, dir); got != 1 {
		t.Errorf("%d groups", got)
	}
	n.terminate()
	if pid := databaseOn(dir); pid != 0 {
		t.Errorf("the database %d still runs", pid)
	}
}

func TestAServerOutlivesTheCommandThatRanItsDatabase(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	i := startImport(t, dir)
	i.write(acme)
	eventually(t, "the command runs the database", func() bool { return databaseOn(dir) != 0 })
	n := served(t, dir)
	i.kill()
	eventually(t, "the server runs the database", func() bool { return databaseOn(dir) != 0 && probe(n.addr) })
	n.kill()
	n = served(t, dir)
	if again := startImport(t, dir); again.run(acme+groupLine(1)+groupLine(2)) != 0 {
		t.Errorf("%s", &again.stderr)
	}
	if got := imported(t, dir); got != 2 {
		t.Errorf("%d groups", got)
	}
	n.terminate()
}

func (i *importing) run(lines string) int {
	i.t.Helper()
	i.write(lines)
	return i.end()
}

func TestServersAndCommandsThatStartTogetherAllSucceed(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	const rounds = 6
	for round := range rounds {
		first := startImport(t, dir)
		n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: dir}}
		n.addr = n.launch.addr
		second := startImport(t, dir)
		first.write(acme + groupLine(2*round+1))
		second.write(acme + groupLine(2*round+2))
		n.start()
		// One of them may run the database, and then waits for the other.
		_, _ = first.in.Close(), second.in.Close()
		for _, i := range []*importing{first, second} {
			if i.end() != 0 {
				t.Errorf("round %d: %s", round, &i.stderr)
			}
		}
		eventually(t, "the server is ready after the commands", func() bool { return probe(n.addr) })
		n.terminate()
	}
	if got := imported(t, dir); got != 2*rounds {
		t.Errorf("%d groups", got)
	}
}

func TestACommandKilledWhileTheServerStartsDoesNotHinderIt(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	for range 6 {
		i := startImport(t, dir)
		i.write(acme)
		eventually(t, "the command runs the database", func() bool { return databaseOn(dir) != 0 })
		time.AfterFunc(time.Duration(rand.IntN(600))*time.Millisecond, func() { _ = i.cmd.Process.Kill() })
		n := served(t, dir)
		<-i.exited
		eventually(t, "the server has a database", func() bool { return probe(n.addr) })
		n.terminate()
	}
}

func TestAnImportThatLosesItsServerReportsItOnce(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	n := served(t, dir)
	i := startImport(t, dir)
	// So many lines are stored at a time: only the work at the end is left.
	i.write(acme + groupLine(0))
	for id := range 9_998 {
		i.write(groupLine(id + 1))
	}
	eventually(t, "all lines are imported", func() bool { return strings.Contains(i.stderr.String(), "-:2:") })
	n.terminate()
	if status := i.end(); status != 1 || strings.Count(i.stderr.String(), "cannot answer right now") != 1 {
		t.Errorf("%d %s", status, &i.stderr)
	}
}

func TestAServerOnAnEmptyDatabaseIsReadyWhenItIsMigrated(t *testing.T) {
	t.Parallel()
	d := &database{t: t, dir: dbtest.Dir(t, room)}
	d.start()
	t.Cleanup(func() { _ = d.server.Close() })
	n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: t.TempDir(), databaseURL: d.url(), extra: []string{"--no-migrate"}}}
	n.addr = n.launch.addr
	n.serving = serve(t, n.launch)
	own := client(t)
	status := func(path string) int {
		got, err := n.roundTrip(own, n.url(""), "GET", path, "")
		fatal.If(t, err)
		return got.status
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable,
		"/tags": http.StatusServiceUnavailable, "/graphql?query={company{name}}": http.StatusServiceUnavailable} {
		if got := status(path); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	if _, err := output("token", "--user", "ops@acme.example", "--no-migrate", "--database-url", d.url()); err == nil || !strings.Contains(err.Error(), "run simgraph migrate up") {
		t.Errorf("a command: %v", err)
	}
	run(t, "migrate", "up", "--database-url", d.url())
	if got := status("/readyz"); got != http.StatusOK {
		t.Errorf("readyz: %d", got)
	}
	if got := status("/tags"); got != http.StatusUnauthorized {
		t.Errorf("tags: %d", got)
	}
	n.terminate()
	if text := n.stderr.String(); strings.Contains(text, "pq:") || strings.Contains(text, "a worker failed") {
		t.Error(text)
	}
}
