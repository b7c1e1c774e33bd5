package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
)

// clockTicks is the unit of /proc/PID/stat on every Linux of today.
const clockTicks = 100

// meter reads the CPU time of a PostgreSQL server on this machine, where /proc
// has it; elsewhere it is 0.
type meter struct{ postmaster int }

// find learns which process the server is.
func (m *meter) find(ctx context.Context, pool *sqlx.DB) error {
	var backend int
	if err := pool.GetContext(ctx, &backend, "SELECT pg_backend_pid()"); err != nil {
		return err
	}
	m.postmaster = readProcess(backend).parent
	return nil
}

// total is the CPU time of the server so far, of ended backends too.
func (m *meter) total() time.Duration {
	if m.postmaster == 0 {
		return 0
	}
	own := readProcess(m.postmaster)
	ticks := own.ticks + own.ended
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if p := readProcess(pid); p.parent == m.postmaster {
			ticks += p.ticks
		}
	}
	return time.Duration(ticks) * time.Second / clockTicks
}

// ownCPU is the CPU time of this process so far.
func ownCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

type process struct{ parent, ticks, ended int }

func readProcess(pid int) (p process) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p
	}
	// The name, in parentheses, may hold blanks. After it come the state, the
	// parent, and from the 12th on user and system time, own and of ended children.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return p
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	return process{parent: number(1), ticks: number(11) + number(12), ended: number(13) + number(14)}
}
