package scaleout

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/command"
	"simgraph/internal/doctor"
	"simgraph/internal/fatal"
)

// poolSize is how few connections the pooler has, so that requests share them.
const poolSize = 2

// pgbouncer runs PgBouncer by transaction before the database at the address,
// with the settings of docs/operations.md, and returns its own address.
func pgbouncer(t *testing.T, direct string) string { return pgbouncerWith(t, direct, "") }

// pgbouncerWith is pgbouncer that takes more parameters at the start of a session, and
// drops them.
func pgbouncerWith(t *testing.T, direct, ignored string) string {
	t.Helper()
	program := pgbouncerProgram(t)
	at, err := url.Parse(direct)
	fatal.If(t, err)
	dir, owner := poolerDir(t, at.Query().Get("host"))
	password, _ := at.User.Password()
	name := strings.TrimPrefix(at.Path, "/")
	write(t, filepath.Join(dir, "users"), fmt.Sprintf("%q %q\n", at.User.Username(), password))
	write(t, filepath.Join(dir, "ini"), fmt.Sprintf(`[databases]
%[1]s = host=%[2]s port=%[3]s dbname=%[1]s connect_query='SET statement_timeout = 30000; SET lock_timeout = 15000; SET idle_in_transaction_session_timeout = 7500'
[pgbouncer]
pool_mode = transaction
ignore_startup_parameters = extra_float_digits%[6]s
default_pool_size = %[4]d
max_client_conn = 100
unix_socket_dir = %[5]s
listen_port = 6432
auth_type = plain
auth_file = %[5]s/users
`, name, at.Query().Get("host"), at.Query().Get("port"), poolSize, dir, ignored))
	cmd := exec.Command(program, filepath.Join(dir, "ini"))
	cmd.Stderr, cmd.Stdout = t.Output(), t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = owner
	}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pooled := *at
	pooled.RawQuery = url.Values{"host": {dir}, "port": {"6432"}, "sslmode": {"disable"}, "application_name": {"pooled"}}.Encode()
	eventually(t, "the pooler answers", func() bool {
		pool, err := pg.Open(t.Context(), pooled.String(), pg.Options{MaxConns: 1, Pooler: true})
		return err == nil && pool.Close() == nil
	})
	return pooled.String()
}

func pgbouncerProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("PgBouncer is missing: apt-get install pgbouncer, then this is tested too")
	return ""
}

// poolerDir makes a short path, for a socket, which the owner of the database's
// sockets can use: PgBouncer refuses root as PostgreSQL does.
func poolerDir(t *testing.T, sockets string) (string, *syscall.Credential) {
	t.Helper()
	info, err := os.Stat(sockets)
	fatal.If(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	dir := dbtest.Dir(t, "/tmp")
	fatal.If(t, os.Chown(dir, int(stat.Uid), int(stat.Gid)))
	return dir, &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	fatal.If(t, os.WriteFile(path, []byte(text), 0o644))
}

// events follows a subscription by server-sent events until the test ends.
func (s *service) events(document string) <-chan string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document})
	fatal.If(s.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/graphql", bytes.NewReader(body))
	fatal.If(s.t, err)
	req.Header = http.Header{"Authorization": {"Bearer " + s.token}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	resp, err := http.DefaultClient.Do(req)
	fatal.If(s.t, err)
	found := make(chan string, 100)
	go func() {
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				found <- data
			}
		}
	}()
	return found
}

// await returns the next event.
func (s *service) await(events <-chan string) string {
	s.t.Helper()
	select {
	case event := <-events:
		return event
	case <-time.After(patience):
		s.t.Fatal("no event came")
		return ""
	}
}

func TestTheWholeServiceRunsBehindAPooler(t *testing.T) {
	t.Parallel()
	direct := dbtest.URL(t)
	pooled := pgbouncer(t, direct)
	s := serve(t, direct, "--database-url", pooled, "--direct-url", direct, "--pooler", "--max-conns", "8", "--mail-wait", "100ms")
	var physicalID, subscriberID string
	fatal.If(t, s.direct.QueryRowContext(t.Context(), "SELECT physical_id, subscriber_id FROM subscribers ORDER BY 1 LIMIT 1").Scan(&physicalID, &subscriberID))
	fired := s.events(`subscription { alertTriggered { ... on VolumeLogEntry { threshold } } }`)

	s.must(document(everyQuery, map[string]any{"id": physicalID}))
	s.must(document(writeNickname, map[string]any{"id": physicalID, "to": "behind a pooler"}))
	if got := s.must(document(readNickname, map[string]any{"id": physicalID})); !got.shows("behind a pooler") {
		t.Errorf("the write is not read: %s", got.body)
	}
	threshold := s.fire(physicalID, subscriberID)
	for !strings.Contains(s.await(fired), fmt.Sprint(threshold)) {
		continue // one of the demo's own
	}
	sent := regexp.MustCompile(fmt.Sprintf(`"threshold":"?%d"?,"deliveries":\[\{"state":"DELIVERED"`, threshold))
	eventually(t, "the mail of the alert is sent", func() bool {
		return sent.Match(s.must(document(`{ alertLog(first: 20) { nodes { ... on VolumeLogEntry { threshold } deliveries { state } } } }`, nil)).body)
	})
	s.many(physicalID)
	behind := pg.Options{Pooler: true, StatementTimeout: time.Second, LockTimeout: time.Second, IdleTimeout: time.Second}
	if unset, err := behind.Unset(t.Context(), open(t, pooled, behind)); err != nil || len(unset) > 0 {
		t.Errorf("sessions behind the pooler lack %q, %v", unset, err)
	}
	var backends int
	fatal.If(t, s.direct.GetContext(t.Context(), &backends, behindPooler))
	if backends != poolSize {
		t.Errorf("the requests had %d connections, not the %d of the pooler", backends, poolSize)
	}
}

// A pooler that nobody announced would lose locks, events and timeouts: the server and
// the other commands refuse it in one line, also where the pooler takes all parameters, and
// the doctor names the flag.
func TestAPoolerWithoutTheFlagIsRefused(t *testing.T) {
	t.Parallel()
	direct := dbtest.URL(t)
	for name, ignored := range map[string]string{"refuses parameters": "", "drops parameters": ",statement_timeout,lock_timeout,idle_in_transaction_session_timeout"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pooled := pgbouncerWith(t, direct, ignored)
			for _, flags := range [][]string{{"--database-url", pooled}, {"--database-url", pooled, "--pooler", "--direct-url", pooled}} {
				env, run := prepare(t, flags...)
				for what, err := range map[string]error{"serve": run(t.Context()), "command": opened(t, env)} {
					if err == nil || !strings.Contains(err.Error(), "use --pooler with --direct-url") || strings.Contains(command.OneLine(err), ";  ") {
						t.Errorf("%s %v: %v", what, flags[2:], err)
					}
				}
			}
			found := doctor.Examine(t.Context(), &doctor.Deployment{URL: pooled, DataDir: t.TempDir()})
			last := found[len(found)-1]
			if last.Check != "pooler" || last.State != doctor.Wrong || !strings.Contains(last.Do, "--pooler") {
				t.Errorf("the doctor found %+v", last)
			}
			found = doctor.Examine(t.Context(), &doctor.Deployment{URL: pooled, Direct: direct, Pooler: true, DataDir: t.TempDir()})
			if i := slices.IndexFunc(found, func(of doctor.Finding) bool {
				return of.Check == "pooler" || of.Check == "database" && of.State != doctor.OK
			}); i >= 0 {
				t.Errorf("with the flag the doctor found %+v", found[i])
			}
		})
	}
}

// prepare returns a service that was not started.
func prepare(t *testing.T, flags ...string) (*command.Env, func(context.Context) error) {
	t.Helper()
	line := commandLine{}
	parser := kong.Must(&line, kong.DefaultEnvars("SIMGRAPH_TEST"), kong.Vars{"dataDir": t.TempDir()})
	if _, err := parser.Parse(append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)); err != nil {
		t.Fatal(err)
	}
	env := &command.Env{Database: line.Database, Stdout: t.Output(), Stderr: t.Output(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	return env, func(ctx context.Context) error { return line.Serve.Run(ctx, env) }
}

// opened is the error of a command that works on the database.
func opened(t *testing.T, env *command.Env) error {
	t.Helper()
	_, done, err := env.Open(t.Context(), "test")
	if err == nil {
		done()
	}
	return err
}

// behindPooler counts the server's connections of the pooler.
const behindPooler = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pooled'`

// fire sets an alert and records usage above its threshold, which it returns.
func (s *service) fire(physicalID, subscriberID string) (threshold int64) {
	s.t.Helper()
	used := s.dataUsage(physicalID)
	threshold = used + 1_001
	s.must(document(`mutation Set($sim: String!, $at: BigInt!) { createAlert(input: {ruleType: SIM, target: $sim, lowerThreshold: $at, upperThreshold: "900000000000000"}) { alert { alertId } } }`,
		map[string]any{"sim": subscriberID, "at": fmt.Sprint(threshold)}))
	s.must(request{method: http.MethodPost, path: "/usage/records", body: record(physicalID, "r-1", 5_000)})
	if now := s.dataUsage(physicalID); now != used+5_000 {
		s.t.Errorf("%d bytes are booked, not %d", now, used+5_000)
	}
	return threshold
}

// many sends reads and writes at once, more than the pooler has connections.
func (s *service) many(physicalID string) {
	s.t.Helper()
	var clients sync.WaitGroup
	failed := make(chan error, 1_000)
	for client := range 8 {
		clients.Go(func() {
			for i := range 10 {
				for _, one := range []request{
					document(readNickname, map[string]any{"id": physicalID}),
					document(writeNickname, map[string]any{"id": physicalID, "to": fmt.Sprintf("%d of %d", i, client)}),
					{method: http.MethodGet, path: "/subscribers?limit=20"},
					{method: http.MethodPost, path: "/usage/records", body: record(physicalID, fmt.Sprintf("m-%d-%d", client, i), 1)},
				} {
					if _, err := s.send(one); err != nil {
						failed <- err
					}
				}
			}
		})
	}
	clients.Wait()
	close(failed)
	for err := range failed {
		s.t.Error(err)
	}
}
