package dbtest

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// sweeper is a process that outlives the test binary just long enough to clear
// up after it: a test that panics, or a binary that is killed, runs no cleanup.
type sweeper struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// sweepScript learns of the end of the test binary by the end of its input,
// stops the server in case it still runs, and removes its files.
const sweepScript = `
cat >/dev/null
pid=$(head -n 1 "$1/data/postgres/postmaster.pid" 2>/dev/null)
for try in QUIT 0 0 0 0 0 0 0 0 0 KILL 0 0 0 0 0 0 0 0 0; do
	[ -n "$pid" ] && kill -$try "$pid" 2>/dev/null || break
	sleep 0.2
done
rm -rf -- "$1" 2>/dev/null || { sleep 1; rm -rf -- "$1"; }
`

// sweepAfter starts the sweeper of dir. It has its own session, so that what
// stops the tests does not stop it, and none of their files, so that nothing
// waits for it to close them.
func sweepAfter(dir string) (*sweeper, error) {
	cmd := exec.Command("/bin/sh", "-c", sweepScript, "sweeper", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the sweeper: %w", err)
	}
	return &sweeper{cmd, stdin}, nil
}

// sweep has it do its work now.
func (s *sweeper) sweep() error {
	if err := s.stdin.Close(); err != nil {
		return err
	}
	return s.cmd.Wait()
}
