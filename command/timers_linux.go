package command

import (
	"os"
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
	program, unknown := os.Executable()
	if err != nil || unknown != nil || time.Duration(slack) != timerSlackLinux || os.Getenv(slackened) != "" {
		return
	}
	// Exec keeps the slack of the thread that calls it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0, 0, 0) == nil {
		_ = syscall.Exec(program, os.Args, append(os.Environ(), slackened+"=1"))
	}
}
