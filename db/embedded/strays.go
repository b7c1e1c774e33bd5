package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (h home) pidFile() string { return filepath.Join(h.cluster(), "postmaster.pid") }

// serverPID is the process that the server's own lock file names; 0 for none.
func (h home) serverPID() int {
	pid, _ := h.readPIDFile()
	return pid
}

func (h home) serverReady(pid int) bool {
	named, status := h.readPIDFile()
	return named == pid && status == "ready"
}

// readPIDFile reads the first line of postmaster.pid, and the eighth, where the
// server says how far it is.
func (h home) readPIDFile() (pid int, status string) {
	f, err := os.Open(h.pidFile())
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		switch n {
		case 1:
			pid, _ = strconv.Atoi(strings.TrimSpace(lines.Text()))
		case 8:
			status = strings.TrimSpace(lines.Text())
		}
	}
	return pid, status
}

func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// clear stops what an earlier owner, which died without stopping its server,
// has left running here, and removes the traces that would keep a new server
// from starting. The caller holds the lock, so no living owner is disturbed.
func (h home) clear(ctx context.Context, log *slog.Logger) error {
	unfinished, err := h.unfinished()
	if err != nil {
		return rights(string(h), err)
	}
	for _, dir := range append(unfinished, h.cluster()) {
		if err := clearServer(ctx, dir, h.serverPID(), log); err != nil {
			return err
		}
	}
	for _, path := range append(unfinished, h.pidFile(), h.passwordFile()+".initdb") {
		if err := os.RemoveAll(path); err != nil {
			return rights(string(h), err)
		}
	}
	return nil
}

// unfinished lists the clusters that were not complete when their maker died.
func (h home) unfinished() ([]string, error) {
	entries, err := os.ReadDir(string(h))
	var dirs []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newCluster) {
			dirs = append(dirs, filepath.Join(string(h), e.Name()))
		}
	}
	return dirs, err
}

func clearServer(ctx context.Context, dir string, server int, log *slog.Logger) error {
	left := strays(dir, server)
	if len(left) == 0 {
		return nil
	}
	if slices.Contains(left, server) && !ours(server) {
		return fmt.Errorf("a PostgreSQL server that simgraph did not start (process %d) runs on %s: stop it first", server, dir)
	}
	log.Warn("stopping the database server that a killed simgraph has left", "dir", dir, "processes", left)
	// A server that the kernel signals at its parent's death may be at it
	// already; a second SIGINT does no harm.
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		signal(left, server, sig)
		deadline := time.Now().Add(10 * time.Second)
		for time.Now().Before(deadline) {
			if left = strays(dir, server); len(left) == 0 {
				return nil
			}
			if err := pause(ctx); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the database server that a killed simgraph has left on %s does not stop: processes %v", dir, left)
}

// signal speaks to the server, which stops its own processes; to those only
// where the server is gone, or by force.
func signal(pids []int, server int, sig syscall.Signal) {
	if slices.Contains(pids, server) && sig != syscall.SIGKILL {
		pids = []int{server}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}
