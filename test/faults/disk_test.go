//go:build linux

package faults_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// diskSize leaves some megabytes beside the prepared data directory.
const diskSize = "160m"

func TestTheDiskOfTheDatabaseIsFull(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	fill(t, dir)
	d := &database{t: t, dir: dir}
	d.start()
	t.Cleanup(func() { _ = d.server.Close() })
	x := newTrial(t, launch{databaseURL: d.url(), dataDir: t.TempDir()})
	x.begin()
	ballast := filepath.Join(dir, "ballast")
	fillDisk(t, ballast)
	eventually(t, "callers are answered that the service cannot write", func() bool { return x.load.counted("UNAVAILABLE") > 10 })
	time.Sleep(2 * time.Second) // the fault lasts
	fatal.If(t, os.Remove(ballast))
	freed := time.Now()
	// PostgreSQL stops where it cannot write its log ahead: its supervisor
	// starts it again.
	if d.ended(0) {
		_ = d.server.Close()
		d.start()
		freed = time.Now()
	}
	x.recovers(freed)
	x.flow(300)
	x.finish("disk full for some seconds", d.url())
}

// smallDisk is a file system of its own.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(room, "disk-")
	fatal.If(t, err)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize+",mode=711"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk writes until no byte is left.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	fatal.If(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; {
		block := make([]byte, size)
		_, _ = rand.Read(block) // never fails
		if _, err := file.Write(block); err != nil {
			size /= 4
		}
	}
}
