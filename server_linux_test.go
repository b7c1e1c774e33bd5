package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// timerSlacks are the nanoseconds of all threads of a process.
func timerSlacks(t *testing.T, process int) map[string]int {
	t.Helper()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", process))
	slacks := map[string]int{}
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join("/proc", filepath.Base(thread), "timerslack_ns"))
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH): // the thread has ended
			continue
		case errors.Is(err, fs.ErrPermission):
			t.Skip("only root sees the slack of another process")
		case err != nil:
			t.Fatal(err)
		}
		slacks[strings.TrimSpace(string(text))]++
	}
	return slacks
}

func TestThreadsOfTheServerMayWakeLate(t *testing.T) {
	t.Parallel()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack != 50_000 {
		t.Skip("another slack was chosen for the tests")
	}
	s := start(t, dataDir(t), nil)
	if slacks := timerSlacks(t, s.cmd.Process.Pid); len(slacks) != 1 || slacks["200000"] == 0 {
		t.Errorf("got %v", slacks)
	}
	if status := s.end(unix.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, s.stderr)
	}
}

func TestASlackOfTimersThatWasChosenIsKept(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // the program gets that of the thread, which ends with the test
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1_000_000, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	s := start(t, dataDir(t), nil)
	if slacks := timerSlacks(t, s.cmd.Process.Pid); len(slacks) != 1 || slacks["1000000"] == 0 {
		t.Errorf("got %v", slacks)
	}
}
