package command

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// timerSlack is how late the program's sleeping threads may wake.
	timerSlack      = 200 * time.Microsecond
	timerSlackLinux = 50 * time.Microsecond
	// slackened is in the environment of the program that was started anew.
	slackened = "SIMGRAPH_TIMERS_SLACKENED"
)

// SlackenTimers starts the program anew, as the same process, with threads that
// may wake later than Linux would have it (docs/decisions/0016). It returns where
// that was done, where who started the program has chosen a slack, as systemd
// does by TimerSlackNSec, and where it is refused.
func SlackenTimers() {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || time.Duration(slack) != timerSlackLinux || os.Getenv(slackened) != "" {
		return
	}
	program, ok := programFile()
	var files syscall.Rlimit
	if !ok || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return
	}
	// Exec keeps the slack of the thread that calls it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0, 0, 0) != nil {
		return
	}
	_ = syscall.Exec(program, os.Args, append(os.Environ(), slackened+"=1"))
	// It was refused, after Exec lowered the limit that Go had raised.
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
}

// programFile is the file that was started, by the name that the process goes by
// from then on. It is unknown to what was started in another way, as by a loader.
func programFile() (path string, ok bool) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", false
	}
	named, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	running, err := os.Stat("/proc/self/exe")
	return path, err == nil && os.SameFile(named, running)
}
