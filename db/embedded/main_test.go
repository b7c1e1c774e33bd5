package embedded_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq"

	"simgraph/db/dbtest"
	"simgraph/db/embedded"
	"simgraph/internal/fatal"
)

// roleVariable makes this test binary a simgraph of its own: "start", which also
// takes over, or "attach", on the directory in dirVariable.
const (
	roleVariable = "EMBEDDED_TEST_ROLE"
	dirVariable  = "EMBEDDED_TEST_DIR"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role, os.Getenv(dirVariable)))
	}
	os.Exit(m.Run())
}

// hasty spares the disk; what is tested here does not depend on it.
var hasty = map[string]string{"fsync": "off"}

// play runs a server until a signal or the end of standard input, which is what
// a test sees of a command: its address, and how it ends.
func play(role, dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	begin := embedded.Start
	if role == "attach" {
		begin = embedded.Attach
	}
	s, err := begin(ctx, embedded.Config{Dir: dir, Settings: hasty, Purpose: role})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("url", s.URL())
	if role == "start" {
		s.TakeOver()
	}
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	select {
	case <-ctx.Done():
	case <-ended:
	case <-s.Done():
		fmt.Println("gone", s.Err())
	}
	if err := s.Close(); err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("closed")
	return 0
}

// command is such a process.
type command struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Scanner
	exited chan error
}

func begin(t *testing.T, role, dir string) *command {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	return beginCmd(t, cmd)
}

func beginCmd(t *testing.T, cmd *exec.Cmd) *command {
	t.Helper()
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	fatal.If(t, err)
	out, err := cmd.StdoutPipe()
	fatal.If(t, err)
	fatal.If(t, cmd.Start())
	c := &command{t, cmd, stdin, bufio.NewScanner(out), make(chan error, 1)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return c
}

// says returns the rest of the next line, which must begin with word.
func (c *command) says(word string) string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("the command ended before it said %q", word)
	}
	rest, ok := strings.CutPrefix(c.lines.Text(), word)
	if !ok {
		c.t.Fatalf("the command said %q, not %q", c.lines.Text(), word)
	}
	return strings.TrimSpace(rest)
}

func (c *command) kill() {
	c.t.Helper()
	fatal.If(c.t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
}

// scratch returns an empty folder, in memory where there is one.
func scratch(t *testing.T) string {
	t.Helper()
	return dbtest.Dir(t, shm())
}

func shm() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func start(t *testing.T, dir string) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Settings: hasty, Purpose: "test"})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.Close()) })
	return s
}

func query(t *testing.T, url, statement string) string {
	t.Helper()
	db, err := sql.Open("postgres", url)
	fatal.If(t, err)
	defer db.Close()
	var text sql.NullString
	fatal.If(t, db.QueryRowContext(t.Context(), statement).Scan(&text))
	return text.String
}

// reaches returns why a database does not answer, nil when it does.
func reaches(url string) error {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("SELECT 1")
	return err
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	db, err := sql.Open("postgres", url)
	fatal.If(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	fatal.If(t, err)
}

func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if fact() {
			return
		}
	}
	t.Fatalf("not so after a minute: %s", what)
}

// serverPID reads the process number of the server on dir; 0 without one.
func serverPID(dir string) (pid int) {
	text, err := os.ReadFile(filepath.Join(dir, "postgres/postmaster.pid"))
	if err == nil {
		_, _ = fmt.Sscan(string(text), &pid)
	}
	return pid
}

// running is false for a process that has ended and only waits for its new
// parent to notice.
func running(pid int) bool {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return err == nil
	}
	return pid > 0 && syscall.Kill(pid, 0) == nil
}
