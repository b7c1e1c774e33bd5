package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"simgraph/db/pg"
)

// Pair is a primary and a hot standby that follows it by streaming, both of the
// test's own, with the schema that was given to Main.
type Pair struct {
	// Primary and Standby are the addresses of the database on either server.
	Primary, Standby string

	t                testing.TB
	primary, standby *server
}

const pairDatabase = "simgraph"

// followed are the settings of servers that replicate.
var followed = func() map[string]string {
	settings := maps.Clone(throwaway)
	settings["wal_level"], settings["max_wal_senders"] = "replica", "10"
	settings["synchronous_commit"] = "local"
	return settings
}()

// NewPair starts both servers, which end with the test. The test is skipped
// where pg_basebackup is missing, as it is in packages with the server alone.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startupTime)
	defer cancel()
	primary, err := startWith(ctx, followed, func(s *server) error { return s.migrate(ctx, suite.migrate) })
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	p := &Pair{t: t, primary: primary, Primary: primary.url(pairDatabase)}
	t.Cleanup(func() { p.closed(primary) })
	if p.standby, err = makeServer(); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { p.closed(p.standby) })
	if err := p.copyPrimary(ctx); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	p.StartStandby()
	p.Standby = p.standby.url(pairDatabase)
	return p
}

func (p *Pair) closed(s *server) {
	if err := s.close(); err != nil {
		p.t.Errorf("dbtest: %v", err)
	}
}

func (s *server) migrate(ctx context.Context, migrate Migrate) error {
	if migrate == nil {
		return nil
	}
	pool, err := pg.Open(ctx, s.url(pairDatabase), pg.Options{})
	if err != nil {
		return err
	}
	return errors.Join(migrate(ctx, pool), pool.Close())
}

// copyPrimary makes the cluster of the standby, which follows the primary.
func (p *Pair) copyPrimary(ctx context.Context) error {
	var programs string
	if err := p.primary.admin.GetContext(ctx, &programs, "SELECT setting FROM pg_config WHERE name = 'BINDIR'"); err != nil {
		return err
	}
	program := filepath.Join(programs, "pg_basebackup")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		p.t.Skipf("there is no %s, which makes standbys", program)
	}
	from, to := filepath.Join(p.primary.home(), "postgres"), filepath.Join(p.standby.home(), "postgres")
	owner, err := ownerOf(from)
	if err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(p.standby.home(), 0o711), os.Mkdir(to, 0o700), os.Lchown(to, int(owner.Uid), int(owner.Gid))); err != nil {
		return err
	}
	password, _ := p.primary.address.User.Password()
	if err := os.WriteFile(filepath.Join(p.standby.home(), "password"), []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "--dbname", p.primary.url("postgres"), "--pgdata", to, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	return nil
}

func ownerOf(path string) (*syscall.Credential, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s: no owner known", path)
	}
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}, nil
}

// Both is the address of the database on either server, with what the session must be
// able to do, such as read-write.
func (p *Pair) Both(attrs string) string {
	p.t.Helper()
	address, err := url.Parse(p.Primary)
	if err != nil {
		p.t.Fatalf("dbtest: %v", err)
	}
	other, err := url.Parse(p.Standby)
	if err != nil {
		p.t.Fatalf("dbtest: %v", err)
	}
	query := address.Query()
	for _, name := range []string{"host", "port"} {
		query.Set(name, query.Get(name)+","+other.Query().Get(name))
	}
	query.Set("target_session_attrs", attrs)
	address.RawQuery = query.Encode()
	return address.String()
}

// Synchronize has the primary answer a COMMIT when the standby has it on disk.
func (p *Pair) Synchronize() {
	p.t.Helper()
	for _, sql := range []string{
		"ALTER SYSTEM SET synchronous_standby_names = '*'", "ALTER DATABASE " + pairDatabase + " SET synchronous_commit = on", "SELECT pg_reload_conf()",
	} {
		if _, err := p.primary.admin.ExecContext(p.t.Context(), sql); err != nil {
			p.t.Fatalf("dbtest: %v", err)
		}
	}
}

// KillPrimary ends the primary at once, as a crash would.
func (p *Pair) KillPrimary() {
	p.t.Helper()
	pid, err := p.primary.pid()
	if err != nil {
		p.t.Fatalf("dbtest: the primary: %v", err)
	}
	send(p.t, syscall.SIGQUIT, []int{pid})
	<-p.primary.embedded.Done()
	_ = p.primary.admin.Close() // its connection has ended
	p.primary.admin = nil
}

// Promote makes the standby the primary.
func (p *Pair) Promote() {
	p.t.Helper()
	pool, err := pg.Open(p.t.Context(), p.Standby, pg.Options{MaxConns: 1})
	if err != nil {
		p.t.Fatalf("dbtest: the standby: %v", err)
	}
	var promoted bool
	err = pool.GetContext(p.t.Context(), &promoted, "SELECT pg_promote()")
	if err := errors.Join(err, pool.Close()); err != nil || !promoted {
		p.t.Fatalf("dbtest: the standby was not promoted: %v", err)
	}
}

// StartStandby starts the standby again after KillStandby, at the same address.
func (p *Pair) StartStandby() {
	p.t.Helper()
	if err := p.standby.launch(p.t.Context(), followed); err != nil {
		p.t.Fatalf("dbtest: the standby: %v", err)
	}
}

// KillStandby ends the standby at once, as a crash would.
func (p *Pair) KillStandby() {
	p.t.Helper()
	send(p.t, syscall.SIGQUIT, []int{p.standbyPID()})
	<-p.standby.embedded.Done()
	if err := p.standby.embedded.Close(); err != nil {
		p.t.Fatalf("dbtest: the standby: %v", err)
	}
}

// FreezeStandby stops all processes of the standby where they are, so that it
// takes connections and answers none, until thaw.
func (p *Pair) FreezeStandby() (thaw func()) {
	p.t.Helper()
	return freeze(p.t, p.standby, p.Standby)
}

// freeze stops all processes of a server, of which url is a database, until thaw.
func freeze(t testing.TB, of *server, url string) (thaw func()) {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	var all []int
	err = pool.SelectContext(t.Context(), &all, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	if err := errors.Join(err, pool.Close()); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	main, err := of.pid()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	all = append(all, main)
	send(t, syscall.SIGSTOP, all)
	return func() { send(t, syscall.SIGCONT, all) }
}

// send forgives processes that have ended meanwhile.
func send(t testing.TB, sig syscall.Signal, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatalf("dbtest: %v", err)
		}
	}
}

func (p *Pair) standbyPID() int {
	p.t.Helper()
	pid, err := p.standby.pid()
	if err != nil {
		p.t.Fatalf("dbtest: the standby: %v", err)
	}
	return pid
}

// pid is the main process of the server.
func (s *server) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.home(), "postgres", "postmaster.pid"))
	first, _, _ := strings.Cut(string(text), "\n")
	pid, bad := strconv.Atoi(first)
	return pid, errors.Join(err, bad)
}
