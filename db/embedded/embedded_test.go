package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

func TestDataSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	fatal.If(t, s.Close())
	<-s.Done()
	if err := s.Err(); err != nil {
		t.Fatalf("a server that was closed has no error: %v", err)
	}
	if pid := serverPID(dir); pid != 0 {
		t.Fatalf("the server %d still runs", pid)
	}
	if got := query(t, start(t, dir).URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
}

func TestTheServerIsSetUpForSafeTextAndData(t *testing.T) {
	t.Parallel()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: filepath.Join(scratch(t), "data")})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.Close()) })
	for setting, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "data_checksums": "on", "server_encoding": "UTF8",
		"listen_addresses": "", "password_encryption": "scram-sha-256", "jit": "off", "timezone": "UTC",
	} {
		if got := query(t, s.URL(), "SHOW "+setting); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := query(t, s.URL(), "SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules"); got != "scram-sha-256" {
		t.Errorf("logins by %s", got)
	}
	if got := query(t, s.URL(), "SELECT datcollate FROM pg_database WHERE datname = current_database()"); got != "C.UTF-8" && got != "C" {
		t.Errorf("text is ordered by %s", got)
	}
}

func TestWhatTheOperatorSetsStays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, s.URL(), "ALTER SYSTEM SET work_mem = '7MB'")
	fatal.If(t, s.Close())
	s = start(t, dir)
	if got := query(t, s.URL(), "SHOW work_mem"); got != "7MB" {
		t.Fatalf("work_mem is %s", got)
	}
}

func TestPrivateFilesAreClosedToOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	start(t, dir)
	guest, err := embedded.Attach(t.Context(), embedded.Config{Dir: dir})
	fatal.If(t, err)
	fatal.If(t, guest.Close())
	for _, name := range []string{"lock", "guests", "owner.json", "password", "postgres", "postgres.log", "run"} {
		info, err := os.Stat(filepath.Join(dir, name))
		fatal.If(t, err)
		if open := info.Mode().Perm() & 0o077; open != 0 {
			t.Errorf("%s lets others in: %v", name, info.Mode())
		}
	}
}

func TestASecondStartSaysWhoIsThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	inUse, ok := errors.AsType[*embedded.InUseError](err)
	if !ok || inUse.PID != os.Getpid() || inUse.Purpose != "test" {
		t.Fatalf("got %v", err)
	}
	query(t, s.URL(), "SELECT 1")
}

func TestOfManyColdStartsOneWins(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	type outcome struct {
		server *embedded.Server
		err    error
	}
	outcomes := make(chan outcome)
	for range 4 {
		go func() {
			s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: hasty})
			outcomes <- outcome{s, err}
		}()
	}
	won := 0
	for range 4 {
		o := <-outcomes
		if o.err == nil {
			won++
			t.Cleanup(func() { fatal.If(t, o.server.Close()) })
		} else if _, ok := errors.AsType[*embedded.InUseError](o.err); !ok {
			t.Errorf("got %v", o.err)
		}
	}
	if won != 1 {
		t.Fatalf("%d servers on one directory", won)
	}
}

func TestACrashOfTheServerIsReported(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	fatal.If(t, syscall.Kill(serverPID(dir), syscall.SIGKILL))
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("nobody noticed")
	}
	if s.Err() == nil {
		t.Fatal("no reason given")
	}
	fatal.If(t, s.Close())
	query(t, start(t, dir).URL(), "SELECT 1")
}

func TestALongPathDoesNotMatter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), strings.Repeat("long/", 30), `a "quoted", spaced name`)
	s := start(t, dir)
	joined, err := embedded.Attach(t.Context(), embedded.Config{Dir: dir})
	fatal.If(t, err)
	sockets := query(t, joined.URL(), "SHOW unix_socket_directories")
	fatal.If(t, joined.Close())
	fatal.If(t, s.Close())
	if !strings.HasPrefix(sockets, `"/tmp/simgraph-`) && !strings.HasPrefix(sockets, "/tmp/simgraph-") {
		t.Fatalf("sockets lie in %s", sockets)
	}
	if _, err := os.Stat(strings.Trim(sockets, `"`)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is left: %v", sockets, err)
	}
}

func TestALostPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	old := s.URL()
	fatal.If(t, s.Close())
	fatal.If(t, os.Remove(filepath.Join(dir, "password")))
	s = start(t, dir)
	if s.URL() == old {
		t.Fatal("the password is the same")
	}
	query(t, s.URL(), "SELECT 1")
}

func TestADroppedDatabaseIsCreatedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, strings.Replace(s.URL(), "/simgraph?", "/postgres?", 1), "DROP DATABASE simgraph")
	fatal.If(t, s.Close())
	query(t, start(t, dir).URL(), "SELECT 1")
}

func TestTheLogIsBounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, s.URL(), `DO $$ BEGIN FOR i IN 1..2000 LOOP RAISE LOG '%', repeat('x', 8000); END LOOP; END $$`)
	fatal.If(t, s.Close())
	for _, name := range []string{"postgres.log", "postgres.log.1"} {
		info, err := os.Stat(filepath.Join(dir, name))
		fatal.If(t, err)
		if info.Size() > 5<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}
