package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is a server under load, in a process of its own.
type program struct {
	address string
	pid     int
	stop    func()
}

// cpu is the CPU time that the program has used.
func (p *program) cpu() time.Duration {
	return time.Duration(readProcess(p.pid).ticks) * time.Second / clockTicks
}

// startCeilings runs this program as the bare handler and the limit.
func (a *answers) startCeilings(ctx context.Context) (*program, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var workloads bytes.Buffer
	if err := gob.NewEncoder(&workloads).Encode(a.workloads); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, "ceilings", a.url, address)
	command.Stdin = &workloads
	command.Env = append(os.Environ(), "GOGC=400") // as the server
	return started(ctx, command, address)
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// noLimits are the options of a server that refuses nobody for asking too much.
var noLimits = []string{"--token-rate", "0", "--address-rate", "0", "--cost-rate", "0"}

// startServer starts the built server on a database and a free port.
func startServer(ctx context.Context, simgraph, database string, options ...string) (*program, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return startServerAt(ctx, address, simgraph, database, options...)
}

// startServerAt is startServer on a port that the caller chose.
func startServerAt(ctx context.Context, address, simgraph, database string, options ...string) (*program, error) {
	options = append([]string{"serve", "--database-url", database, "--addr", address, "--log-level", "warn"}, options...)
	return started(ctx, exec.CommandContext(ctx, simgraph, options...), address)
}

// started waits until a program listens.
func started(ctx context.Context, command *exec.Cmd, address string) (*program, error) {
	command.Stderr = os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &program{address: "http://" + address, pid: command.Process.Pid, stop: func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	}}
	for range 300 {
		if answer, err := http.Get(p.address + "/healthz"); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			return p, answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	p.stop()
	return nil, fmt.Errorf("%s does not listen", command.Path)
}

// resident is the memory of a process in MB, 0 without /proc.
func resident(pid int) int { return memory(pid, "VmRSS:") }

// memory is a figure of the status of a process in MB, 0 without /proc.
func memory(pid int, figure string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), figure)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.Atoi(fields[0])
	return kb >> 10
}
