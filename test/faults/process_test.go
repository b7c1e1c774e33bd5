//go:build linux

package faults_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is for what must happen at last, on the busiest of machines.
const patience = 3 * time.Minute

// serving is a simgraph that serves, or did until it was ended.
type serving struct {
	t      *testing.T
	cmd    *exec.Cmd
	base   string
	admin  string
	stderr *transcript
	exited chan struct{}
}

// transcript keeps what a running program writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (t *transcript) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(text)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// launch is how to start a simgraph; what is empty is left out.
type launch struct {
	// program is another one than the built simgraph.
	program string
	// addr is where to listen: a free port when empty.
	addr        string
	dataDir     string
	databaseURL string
	smtp        string
	// extra are further flags, environment further variables.
	extra       []string
	environment []string
}

func (l launch) flags() []string {
	flags := []string{
		"serve", "--addr", cmp.Or(l.addr, "127.0.0.1:0"), "--admin-addr", "127.0.0.1:0",
		// Mail goes out while the fault lasts, and not half a minute later.
		"--mail-wait", "500ms", "--mails-per-hour", "10000", "--mail-timeout", "5s",
	}
	return append(append(flags, l.database()...), l.extra...)
}

func (l launch) database() []string {
	flags := []string{"--data-dir", l.dataDir}
	if l.databaseURL != "" {
		flags = append(flags, "--database-url", l.databaseURL)
	}
	return flags
}

// tryServe starts simgraph and waits until it reports that it is ready.
func tryServe(t *testing.T, l launch) (*serving, error) {
	t.Helper()
	if l.smtp != "" {
		l.extra = append(l.extra, "--smtp-url", "smtp://"+l.smtp+"?starttls=never")
	}
	s := &serving{t: t, stderr: &transcript{}, exited: make(chan struct{})}
	ready := &watch{pattern: readyLine, found: make(chan []string, 1)}
	admin := &watch{pattern: adminLine, found: make(chan []string, 1)}
	s.cmd = exec.Command(cmp.Or(l.program, program), l.flags()...)
	s.cmd.Stdout, s.cmd.Stderr = ready, io.MultiWriter(s.stderr, admin)
	s.cmd.Env = append(os.Environ(), l.environment...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.begin(); err != nil {
		return nil, err
	}
	t.Cleanup(s.kill)
	deadline := time.After(patience)
	for s.base == "" || s.admin == "" {
		select {
		case line := <-ready.found:
			s.base = line[1]
		case line := <-admin.found:
			s.admin = "http://" + line[1]
		case <-s.exited:
			return nil, fmt.Errorf("it ended: %s", s.stderr)
		case <-deadline:
			return nil, fmt.Errorf("it is not ready after %v: %s", patience, s.stderr)
		}
	}
	return s, nil
}

// begin starts the process from a thread that stays as long as it: the death
// of that thread is what the kernel takes for the death of the parent.
func (s *serving) begin() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // its state has how it ended
			close(s.exited)
		}
	}()
	return <-started
}

// serve is tryServe for what must succeed.
func serve(t *testing.T, l launch) *serving {
	t.Helper()
	s, err := tryServe(t, l)
	if err != nil {
		t.Fatalf("simgraph does not serve: %v", err)
	}
	return s
}

// kill ends the process at once, if it has not ended.
func (s *serving) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// terminate ends the process as an operator does, and demands that it ends well.
func (s *serving) terminate() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatalf("it does not end: %s", s.stderr)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("it ended with status %d: %s", code, s.stderr)
	}
}

var (
	readyLine = regexp.MustCompile(`GraphQL\s+(https?://[0-9.:]+)/graphql`)
	adminLine = regexp.MustCompile(`metrics are on http://(\S+?)/metrics`)
)

// watch waits for a line of output; the rest passes.
type watch struct {
	pattern *regexp.Regexp
	text    []byte
	found   chan []string
	done    bool
}

// Write implements io.Writer.
func (w *watch) Write(text []byte) (int, error) {
	if w.done {
		return len(text), nil
	}
	w.text = append(w.text, text...)
	if match := w.pattern.FindSubmatch(w.text); match != nil {
		groups := make([]string, len(match))
		for i := range match {
			groups[i] = string(match[i])
		}
		w.found <- groups
		w.done, w.text = true, nil
	}
	return len(text), nil
}

// run runs a command of simgraph to its end and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	return runProgram(t, program, args...)
}

// runProgram is run for another simgraph than the built one.
func runProgram(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("simgraph %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// client has connections of its own, so that a test's do not outlive it.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// eventually waits for a fact.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !fact(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}
