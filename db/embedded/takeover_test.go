package embedded_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

// share starts a server on a directory whose database a command runs.
func share(t *testing.T, dir string, command *command) *embedded.Server {
	t.Helper()
	url := command.says("url")
	s := start(t, dir)
	if s.URL() != url {
		t.Fatalf("the server uses %s, the command %s", s.URL(), url)
	}
	query(t, url, "SELECT 1")
	return s
}

func TestAStartSharesTheServerOfACommandAndTakesItOver(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	s := share(t, dir, c)
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	of := serverPID(dir)
	s.TakeOver()
	fatal.If(t, c.stdin.Close())
	c.says("closed")
	eventually(t, "the server is started again", func() bool { return serverPID(dir) != of && reaches(s.URL()) == nil })
	if got := query(t, s.URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
	guest := begin(t, "attach", dir)
	if got := guest.says("url"); got != s.URL() {
		t.Fatalf("a command uses %s afterwards", got)
	}
	fatal.If(t, guest.stdin.Close())
	guest.says("closed")
	fatal.If(t, s.Close())
	if err := s.Err(); err != nil || serverPID(dir) != 0 {
		t.Fatalf("%v, the server %d still runs", err, serverPID(dir))
	}
}

func TestACommandWaitsUntilTheStartIsComplete(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	s := share(t, dir, c)
	of := serverPID(dir)
	fatal.If(t, c.stdin.Close())
	time.Sleep(300 * time.Millisecond)
	if err := reaches(s.URL()); err != nil || serverPID(dir) != of {
		t.Fatalf("the server of the command is gone: %v", err)
	}
	s.TakeOver()
	c.says("closed")
	eventually(t, "the server is started again", func() bool { return reaches(s.URL()) == nil })
}

func TestAKilledCommandIsSucceededByTheStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	s := share(t, dir, c)
	if s.Abandoned() {
		t.Fatal("abandoned by a command that runs")
	}
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	c.kill()
	if !s.Abandoned() {
		t.Fatal("a killed command is not noticed")
	}
	s.TakeOver()
	eventually(t, "the server is started again", func() bool { return reaches(s.URL()) == nil })
	if got := query(t, s.URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
}

func TestAServerThatCrashesUnderACommandIsTakenOverWhileTheCommandRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	s := share(t, dir, c)
	s.TakeOver()
	fatal.If(t, syscall.Kill(serverPID(dir), syscall.SIGKILL))
	c.says("gone")
	eventually(t, "the server is started again", func() bool { return reaches(s.URL()) == nil })
	c.says("closed")
	query(t, s.URL(), "SELECT 1")
}

func TestAStartThatSharesIsOnlyOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	c.says("url")
	first := begin(t, "start", dir)
	first.says("url")
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	if inUse, ok := errors.AsType[*embedded.InUseError](err); !ok || inUse.PID != first.cmd.Process.Pid || inUse.Purpose != "start" {
		t.Fatalf("got %v", err)
	}
	fatal.If(t, first.stdin.Close())
	first.says("closed")
	url := start(t, dir).URL()
	query(t, url, "SELECT 1")
	fatal.If(t, c.stdin.Close())
}

func TestAStartThatSharesLeavesTheServerToTheCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	c := begin(t, "attach", dir)
	s := share(t, dir, c)
	s.TakeOver()
	fatal.If(t, s.Close())
	if err := s.Err(); err != nil {
		t.Fatalf("a server that was closed has no error: %v", err)
	}
	query(t, s.URL(), "SELECT 1")
	fatal.If(t, c.stdin.Close())
	c.says("closed")
}

// TestStartsAndCommandsAreKilledAtAnyMoment starts both at once, kills one or both
// at some moment, and counts on what was committed before.
func TestStartsAndCommandsAreKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, s.URL(), "CREATE TABLE kept (n int)")
	fatal.If(t, s.Close())
	for round := range 12 {
		command, server := begin(t, "attach", dir), begin(t, "start", dir)
		url := command.says("url")
		eventually(t, "the database answers", func() bool { return reaches(url) == nil })
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		if round%3 != 0 {
			command.kill()
		} else {
			fatal.If(t, command.stdin.Close())
			command.says("closed")
		}
		server.says("url")
		eventually(t, "the server has a database", func() bool { return reaches(url) == nil })
		if round%2 == 0 {
			server.kill()
		} else {
			fatal.If(t, server.stdin.Close())
			server.says("closed")
		}
		s := start(t, dir)
		execute(t, s.URL(), "INSERT INTO kept VALUES (1)")
		fatal.If(t, s.Close())
	}
	if got := query(t, start(t, dir).URL(), "SELECT count(*) FROM kept"); got != "12" {
		t.Fatalf("%s of 12 rows are there", got)
	}
}
