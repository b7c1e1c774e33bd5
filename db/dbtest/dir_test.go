package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

func TestADirectoryIsRemovedOnceNobodyWritesToIt(t *testing.T) {
	t.Parallel()
	dir, busy := Dir(t, ""), time.Now().Add(300*time.Millisecond)
	written := make(chan error, 1)
	write := func() error {
		for n := 0; time.Now().Before(busy); n++ {
			// Like a server that follows its owner: some files are new, and some folders.
			path := filepath.Join(dir, fmt.Sprint(n%100), fmt.Sprint(n))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return nil
	}
	go func() { written <- write() }()
	for _, err := os.Stat(filepath.Join(dir, "99")); err != nil; _, err = os.Stat(filepath.Join(dir, "99")) {
		time.Sleep(time.Millisecond)
	}
	removed := removeDir(dir, time.Minute)
	fatal.If(t, <-written)
	fatal.If(t, removed)
}

func TestADirectoryThatCannotBeRemovedIsReported(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("needs /proc")
	}
	if removeDir("/proc/self", 100*time.Millisecond) == nil {
		t.Error("it is removed")
	}
}
