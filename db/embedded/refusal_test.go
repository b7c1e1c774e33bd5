package embedded_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

// refused starts a server where none can be, and returns the one line why.
func refused(t *testing.T, dir string) string {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: hasty})
	if err == nil {
		fatal.If(t, s.Close())
		t.Fatal("the server has started")
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %q", err)
	}
	t.Log(err)
	return err.Error()
}

func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the error does not say %q: %s", part, text)
		}
	}
}

func TestDataOfAnotherMajorVersionAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, start(t, dir).Close())
	version := filepath.Join(dir, "postgres/PG_VERSION")
	made, err := os.ReadFile(version)
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(version, []byte("12\n"), 0o600))
	says(t, refused(t, dir), "PostgreSQL 12", "data are untouched")
	fatal.If(t, os.WriteFile(version, []byte("nonsense\n"), 0o600))
	says(t, refused(t, dir), "PG_VERSION", "nonsense")
	fatal.If(t, os.WriteFile(version, made, 0o600))
	query(t, start(t, dir).URL(), "SELECT 1")
}

func TestAFolderThatIsNoDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, os.MkdirAll(filepath.Join(dir, "postgres"), 0o755))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "postgres/precious"), []byte("x"), 0o600))
	says(t, refused(t, dir), "no PostgreSQL database")
	_, err := os.Stat(filepath.Join(dir, "postgres/precious"))
	fatal.If(t, err)
}

func TestAFileInPlaceOfTheDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(scratch(t), "data")
	fatal.If(t, os.WriteFile(file, nil, 0o600))
	says(t, refused(t, file), "not a directory")
	says(t, refused(t, filepath.Join(file, "below")), "not a directory")
}

func TestWithoutProgramsOneCommandIsNamed(t *testing.T) {
	t.Setenv("PGBIN", t.TempDir())
	says(t, refused(t, filepath.Join(scratch(t), "data")), "PGBIN", "no program postgres")
}

func TestDamagedDataAreReportedInTheServersWords(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, start(t, dir).Close())
	fatal.If(t, os.Remove(filepath.Join(dir, "postgres/global/pg_control")))
	says(t, refused(t, dir), "PostgreSQL did not start", "could not find the database system")
}

func TestABadSettingIsReportedInTheServersWords(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: map[string]string{"work_mem": "much"}})
	if err == nil {
		t.Fatal("the server has started")
	}
	says(t, err.Error(), "work_mem", "much")
}

func TestACancelledStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := embedded.Start(ctx, embedded.Config{Dir: dir})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	query(t, start(t, dir).URL(), "SELECT 1")
}

func TestAFullDisk(t *testing.T) {
	dir := scratch(t)
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", dir).Run(); err != nil {
		t.Skip("needs the right to mount")
	}
	t.Cleanup(func() { fatal.If(t, syscall.Unmount(dir, 0)) })
	says(t, refused(t, filepath.Join(dir, "data")), "cannot create a database", "No space left on device")
}

func TestAFullDiskUnderExistingData(t *testing.T) {
	dir := scratch(t)
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=96m,mode=755", "tmpfs", dir).Run(); err != nil {
		t.Skip("needs the right to mount")
	}
	t.Cleanup(func() { fatal.If(t, syscall.Unmount(dir, 0)) })
	data := filepath.Join(dir, "data")
	s := start(t, data)
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	fatal.If(t, s.Close())
	filler, err := os.Create(filepath.Join(dir, "filler"))
	fatal.If(t, err)
	for chunk := make([]byte, 4096); err == nil; {
		_, err = filler.Write(chunk)
	}
	fatal.If(t, filler.Close())
	says(t, refused(t, data), "the disk is full")
	fatal.If(t, os.Remove(filler.Name()))
	if got := query(t, start(t, data).URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
}
