package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// child is a running program that dies with this process.
type child struct {
	process *os.Process
	exited  chan struct{}
	err     error // of the exit, valid once exited is closed
}

// spawn starts cmd in a process group of its own, which the signals of a
// terminal do not reach, and with the signal that it gets when this process
// dies. The kernel ties that signal to the thread that forked, so this thread
// does nothing else while the child lives.
func spawn(cmd *exec.Cmd, as *account, atDeath syscall.Signal) (*child, error) {
	cmd.Env = environment()
	cmd.SysProcAttr = attributes(as.credential(), atDeath)
	cmd.WaitDelay = time.Second
	c := &child{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		c.process = cmd.Process
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", cmd.Path, err)
	}
	return c, nil
}

// RunClient runs a client program that ends when this process does, however that
// ends. The kernel ties that to the thread that forked.
func RunClient(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = attributes(nil, syscall.SIGTERM)
	cmd.SysProcAttr.Setpgid = false // it gets the signals of the terminal, and may read from it
	return cmd.Run()
}

// run spawns cmd and waits for it; its error holds the last lines of output.
func run(ctx context.Context, cmd *exec.Cmd, as *account) error {
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	c, err := spawn(cmd, as, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.stop(syscall.SIGKILL, 5*time.Second))
	}
	if c.err != nil {
		return errors.New(out.complaint(c.err))
	}
	return nil
}

// shutdown ends a PostgreSQL server: first politely with a checkpoint, then at
// once, which makes the next start recover from the log, then by force.
func (c *child) shutdown() error {
	err := c.stop(syscall.SIGINT, 30*time.Second)
	if err != nil {
		err = c.stop(syscall.SIGQUIT, 5*time.Second)
	}
	if err != nil {
		err = c.stop(syscall.SIGKILL, 5*time.Second)
	}
	return err
}

func (c *child) stop(sig syscall.Signal, within time.Duration) error {
	if err := c.process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.exited:
		return nil
	case <-time.After(within):
		return fmt.Errorf("process %d does not end", c.process.Pid)
	}
}

// environment is this process's own without what would change PostgreSQL's
// programs behind our back: PGDATA, PGPORT and their like, and the language of
// messages.
func environment() []string {
	env := make([]string, 0, len(os.Environ())+1)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PG") && !strings.HasPrefix(v, "LC_") && !strings.HasPrefix(v, "LANG") {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C")
}
