//go:build linux

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// clients are the client programs of a command that work on a database.
const clients = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`

// A backup and a restore wait for a lock while they are killed, so that their client
// programs are in the middle.
func TestKilledBackupsAndRestoresLeaveNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "simgraph.dump")
	url := dbtest.URL(t)
	run(t, "demo", "--subscribers", "20", "--days", "2", "--database-url", url)
	run(t, "backup", file, "--database-url", url)
	before, err := os.ReadFile(file)
	fatal.If(t, err)
	pool := open(t, url)
	killed := func(client, lock string, args ...string) {
		t.Helper()
		tx := pool.MustBegin()
		defer func() { _ = tx.Rollback() }()
		tx.MustExec(lock)
		cmd := exec.Command(program, append(args, "--database-url", url)...)
		fatal.If(t, cmd.Start())
		count := func() (n int) {
			_ = pool.Get(&n, clients, client)
			return n
		}
		eventually(t, client+" waits", func() bool { return count() > 0 })
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/*/children")
		fatal.If(t, err)
		var children []string
		for _, task := range tasks {
			text, _ := os.ReadFile(task) // a thread may have ended
			children = append(children, strings.Fields(string(text))...)
		}
		if len(children) == 0 {
			t.Errorf("no %s was found", client)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for _, child := range children {
			eventually(t, client+" has ended", func() bool {
				_, err := os.Stat("/proc/" + child)
				return err != nil
			})
		}
		_ = tx.Rollback()
		eventually(t, "the session of "+client+" has ended", func() bool { return count() == 0 })
	}
	for range 3 {
		killed("pg_dump", `LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE`, "backup", "--force", file)
		entries, err := os.ReadDir(dir)
		after, _ := os.ReadFile(file)
		if err != nil || len(entries) != 1 || string(after) != string(before) {
			t.Errorf("%v is left, %d bytes of %d, %v", entries, len(after), len(before), err)
		}
	}

	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	restore := func() ([]byte, error) { return output("restore", file, "--database-url", url) }
	for range 4 {
		cmd := exec.Command(program, "restore", file, "--database-url", url)
		fatal.If(t, cmd.Start())
		time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "the session of pg_restore has ended", func() bool {
			var n int
			return pool.Get(&n, clients, "pg_restore") == nil && n == 0
		})
	}
	var verified bool
	fatal.If(t, pool.Get(&verified, `SELECT to_regclass('public.companies') IS NOT NULL AND to_regclass('simgraph_restore.restore') IS NULL`))
	text, err := restore()
	if (err == nil) == verified {
		t.Errorf("restored before: %t, now %s, %v", verified, text, err)
	}
	var left bool
	if err := pool.Get(&left, `SELECT to_regclass('simgraph_restore.restore') IS NOT NULL`); err != nil || left {
		t.Errorf("the restore is still noted: %t, %v", left, err)
	}
	run(t, "rebuild", "--database-url", url)
}

func TestSIGTERMWhileStartingIsNoFailure(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	for i := range 16 {
		args := []string{"serve", "--addr", "127.0.0.1:0", "--data-dir", dbtest.Dir(t, room)}
		most := 3000
		if i%4 > 0 {
			args, most = append(args, "--database-url", url), 300
		}
		stderr := &transcript{}
		cmd := exec.Command(program, args...)
		cmd.Stderr = stderr
		fatal.If(t, cmd.Start())
		awaitFirstConnection(t, cmd.Process.Pid)
		time.Sleep(time.Duration(rand.IntN(most)) * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v: %s", args, err, stderr)
		}
	}
}

// awaitFirstConnection waits until the program opens a connection or a listener: it
// handles signals by then, however busy the machine is.
func awaitFirstConnection(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		fatal.If(t, err)
		for _, file := range files {
			if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
				return
			}
		}
	}
	t.Fatal("the program opens no connection")
}
