package embedded_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

func TestAKilledOwnerTakesItsServerAlong(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "start", dir)
	execute(t, c.says("url"), "CREATE TABLE kept AS SELECT 42 AS n")
	pid := serverPID(dir)
	c.kill()
	if got := query(t, start(t, dir).URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
	if running(pid) {
		t.Fatalf("the old server %d still runs", pid)
	}
}

func TestAStartKilledAtAnyMomentCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, moment := range []int{10, 50, 100, 200, 300, 450, 600, 800} {
		dir := filepath.Join(scratch(t), "data")
		c := begin(t, "start", dir)
		time.Sleep(time.Duration(moment) * time.Millisecond)
		c.kill()
		s := start(t, dir)
		query(t, s.URL(), "SELECT 1")
		fatal.If(t, s.Close())
	}
}

func TestSignalsOfTheTerminalReachOnlyTheOwner(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=start", dirVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c := beginCmd(t, cmd)
	c.says("url")
	pid := serverPID(dir)
	group, err := syscall.Getpgid(pid)
	fatal.If(t, err)
	if group != pid {
		t.Fatalf("the server %d is in the group %d", pid, group)
	}
	fatal.If(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	c.says("closed")
	if running(pid) {
		t.Fatal("the server still runs")
	}
}

func TestAnOrphanIsStopped(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	orphan := leaveOrphan(t, dir, "cluster_name=simgraph")
	s := start(t, dir)
	if got := query(t, s.URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
	if running(orphan) {
		t.Fatalf("the orphan %d still runs", orphan)
	}
}

func TestAServerOfSomeoneElseIsNotStopped(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	other := leaveOrphan(t, dir, "cluster_name=other")
	says(t, refused(t, dir), "simgraph did not start", strconv.Itoa(other))
	if !running(other) {
		t.Fatal("it was stopped")
	}
}

// leaveOrphan runs a server on a directory without an owner, as a killed
// simgraph leaves one where the kernel does not signal children.
func leaveOrphan(t *testing.T, dir, setting string) int {
	t.Helper()
	s := start(t, dir)
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	program, err := os.Readlink("/proc/" + strconv.Itoa(serverPID(dir)) + "/exe")
	if err != nil {
		t.Skip("needs /proc")
	}
	fatal.If(t, s.Close())
	info, err := os.Stat(filepath.Join(dir, "postgres"))
	fatal.If(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	cmd := exec.Command(program, "-D", filepath.Join(dir, "postgres"), "-c", setting,
		"-c", "listen_addresses=", "-c", "unix_socket_directories=.")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
	}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	eventually(t, "the orphan is up", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "postgres/postmaster.pid"))
		return err == nil && strings.Contains(string(text), "ready")
	})
	return cmd.Process.Pid
}

func TestANumberReusedByAnotherProcessIsNoServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, start(t, dir).Close())
	stale := strconv.Itoa(os.Getpid()) + "\n" + filepath.Join(dir, "postgres") + "\n1\n5432\n/nowhere\n\n 1 1\nready   \n"
	pidfile := filepath.Join(dir, "postgres/postmaster.pid")
	fatal.If(t, os.WriteFile(pidfile, []byte(stale), 0o600))
	fatal.If(t, os.MkdirAll(filepath.Join(dir, "run"), 0o700))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "run/.s.PGSQL.5432.lock"), []byte(stale), 0o600))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "owner.json"), []byte(`{"pid":1,"purpose":"serve","ready":true}`), 0o600))
	s, err := embedded.Attach(t.Context(), embedded.Config{Dir: dir, Settings: hasty})
	fatal.If(t, err)
	query(t, s.URL(), "SELECT 1")
	fatal.If(t, s.Close())
}

func TestACommandUsesTheServerOfAnother(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	c := begin(t, "attach", dir)
	if got := c.says("url"); got != s.URL() {
		t.Fatalf("it uses %s", got)
	}
	fatal.If(t, c.stdin.Close())
	c.says("closed")
	query(t, s.URL(), "SELECT 1")
}

func TestAGuestLearnsThatTheServerIsGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	c := begin(t, "attach", dir)
	c.says("url")
	fatal.If(t, s.Close())
	c.says("gone")
	c.says("closed")
}

func TestACommandKeepsItsServerUpForItsGuests(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	first := begin(t, "attach", dir)
	first.says("url")
	second := begin(t, "attach", dir)
	url := second.says("url")
	fatal.If(t, first.stdin.Close())
	time.Sleep(300 * time.Millisecond)
	query(t, url, "SELECT 1")
	fatal.If(t, second.stdin.Close())
	second.says("closed")
	first.says("closed")
	eventually(t, "the server is stopped", func() bool { return serverPID(dir) == 0 })
}

func TestCommandsThatStartTogetherShareOneServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	var commands []*command
	for range 4 {
		commands = append(commands, begin(t, "attach", dir))
	}
	urls := map[string]bool{}
	for _, c := range commands {
		urls[c.says("url")] = true
	}
	if len(urls) != 1 {
		t.Fatalf("%d servers", len(urls))
	}
	for _, c := range commands {
		fatal.If(t, c.stdin.Close())
	}
	for _, c := range commands {
		c.says("closed")
	}
}

func TestAKilledGuestHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	owner := begin(t, "attach", dir)
	owner.says("url")
	guest := begin(t, "attach", dir)
	guest.says("url")
	guest.kill()
	fatal.If(t, owner.stdin.Close())
	owner.says("closed")
}

func TestAGuestOutlivesAKilledOwnerByStartingAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	owner := begin(t, "attach", dir)
	owner.says("url")
	owner.kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := embedded.Attach(ctx, embedded.Config{Dir: dir, Settings: hasty})
	fatal.If(t, err)
	query(t, s.URL(), "SELECT 1")
	fatal.If(t, s.Close())
}
