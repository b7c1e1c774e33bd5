//go:build linux

// Package faults_test holds the built simgraph to what it promises while what
// it stands on fails: nothing that was acknowledged is lost, no alert is lost
// or doubled, errors are typed, and it answers again once the fault is over.
package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"simgraph/db/dbtest"
)

// program is the built simgraph, which these tests run as operators do.
var program string

// room is where databases lie: in memory, where there is enough of it.
var room string

// roomNeeded in memory: below it, the tests run on disk.
const roomNeeded = 2 << 30

func TestMain(m *testing.M) {
	os.Exit(withProgram(func() int { return dbtest.Run(m, makeDemo) }))
}

func withProgram(run func() int) int {
	folder, err := os.MkdirTemp("", "simgraph-faults-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if room, err = os.MkdirTemp(memory(), "simgraph-faults-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(room)
	// PostgreSQL runs as another user where the tests run as root.
	if err := os.Chmod(room, 0o711); err != nil {
		panic(err)
	}
	program = filepath.Join(folder, "simgraph")
	if out, err := exec.Command("go", "build", "-o", program, "simgraph").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	return run()
}

func memory() string {
	const shared = "/dev/shm"
	var space syscall.Statfs_t
	if err := syscall.Statfs(shared, &space); err == nil && space.Bavail*uint64(space.Bsize) > roomNeeded {
		return shared
	}
	return ""
}
