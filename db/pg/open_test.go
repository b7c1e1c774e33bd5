package pg_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// named stands for the types of the domain, which carries no tags.
type named struct {
	PhysicalID, IMSI, EID, SMDPProvider, TimeZone string
	IsBarred                                      bool
	PhysicalIDs, IPAddress, CompanyID             string
}

func TestColumnsMatchFieldsWithoutTags(t *testing.T) {
	t.Parallel()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{})
	fatal.If(t, err)
	defer pool.Close()
	var got named
	err = pool.GetContext(t.Context(), &got, `SELECT 'a' AS physical_id, 'b' AS imsi, 'c' AS eid, 'd' AS smdp_provider,
		'e' AS time_zone, true AS is_barred, 'f' AS physical_ids, 'g' AS ip_address, 'h' AS company_id`)
	fatal.If(t, err)
	if want := (named{"a", "b", "c", "d", "e", true, "f", "g", "h"}); got != want {
		t.Fatalf("got %+v", got)
	}
}

func TestTheSessionIsSetUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, parameters, statement, want string
		opt                               pg.Options
	}{
		{name: "it has a name", statement: "SHOW application_name", want: "simgraph"},
		{name: "the address may give another", parameters: "&application_name=mine", statement: "SHOW application_name", want: "mine"},
		{name: "times are in UTC", statement: "SHOW timezone", want: "UTC"},
		{name: "a time limit", statement: "SHOW statement_timeout", want: "1500ms", opt: pg.Options{StatementTimeout: 1500 * time.Millisecond}},
		{name: "a time limit is rounded up", statement: "SHOW statement_timeout", want: "1501ms", opt: pg.Options{StatementTimeout: 1500*time.Millisecond + 1}},
		{name: "a limit of waiting", statement: "SHOW lock_timeout", want: "1500ms", opt: pg.Options{LockTimeout: 1500 * time.Millisecond}},
		{name: "a limit of idling", statement: "SHOW idle_in_transaction_session_timeout", want: "1500ms", opt: pg.Options{IdleTimeout: 1500 * time.Millisecond}},
		{name: "no setting that a pooler refuses", statement: "SHOW statement_timeout", want: "0", opt: pg.Options{StatementTimeout: time.Second, Pooler: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pool, err := pg.Open(t.Context(), dbtest.URL(t)+c.parameters, c.opt)
			fatal.If(t, err)
			defer pool.Close()
			var got string
			if err := pool.GetContext(t.Context(), &got, c.statement); err != nil || got != c.want {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

func TestStatementsArePreparedUnlessAPoolerStandsInFront(t *testing.T) {
	t.Parallel()
	for _, pooler := range []bool{false, true} {
		pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 1, Pooler: pooler})
		fatal.If(t, err)
		defer pool.Close()
		var held int
		pool.MustExecContext(t.Context(), "SELECT $1::int", 1)
		fatal.If(t, pool.GetContext(t.Context(), &held, "SELECT count(*) FROM pg_prepared_statements"))
		if (held == 1) == pooler {
			t.Fatalf("pooler %v: the server holds %d statements", pooler, held)
		}
	}
}

func TestConnectionsStayOpen(t *testing.T) {
	t.Parallel()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 3})
	fatal.If(t, err)
	defer pool.Close()
	done := make(chan error)
	for range 6 {
		go func() { _, err := pool.ExecContext(t.Context(), "SELECT pg_sleep(0.1)"); done <- err }()
	}
	for range 6 {
		fatal.If(t, <-done)
	}
	if stats := pool.Stats(); stats.OpenConnections != 3 || stats.MaxOpenConnections != 3 {
		t.Fatalf("got %+v", stats)
	}
}

func TestAnAddressThatCannotBeUsed(t *testing.T) {
	dbtest.WithoutCitus(t, "a server that is given may let in without a password")
	t.Parallel()
	good, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	wrong := *good
	wrong.User = url.UserPassword("simgraph", "s3cret")
	absent := *good
	absent.Path = "/absent"
	for _, c := range []struct{ name, address, want string }{
		{"no address at all", "postgres://u:s3cret@host:port/x", "the database address: invalid port"},
		{"another database", "mysql://root:s3cret@db:3306/x", "mysql:// is not PostgreSQL: it is to be postgres://"},
		{"a host alone", "db.example/s3cret", "the database address: it is to be postgres://"},
		{"no such setting", "sslmode=perhaps password=s3cret", "the database address"},
		{"no socket", "postgres://u:s3cret@/x?host=" + t.TempDir(), "no such file"},
		{"wrong password", wrong.String(), "password authentication failed"},
		{"no such database", absent.String(), `database "absent" does not exist`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := pg.Open(t.Context(), c.address, pg.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
			if text := err.Error(); strings.Contains(text, "s3cret") || strings.Contains(text, "\n") {
				t.Fatalf("the error reveals too much: %s", text)
			}
		})
	}
}

func TestHostsOfAnAddress(t *testing.T) {
	t.Parallel()
	for address, place := range map[string]string{
		"postgres://u:p,w@one:5433/x":                            "one:5433",
		"postgres://u:p%40w@one:5433,two/x":                      "one:5433,two:5432",
		"postgresql://u@[::1]:5433,[fd00::2],10.0.0.1:6000/x":    "[::1]:5433,[fd00::2]:5432,10.0.0.1:6000",
		"postgres://one,two/x?port=5433,5434&sslmode=disable":    "one:5433,two:5434",
		"postgres:///x?host=/run/a,/run/b":                       "/run/a,/run/b",
		"host=one,two port=5433 dbname=x password='a://b mysql'": "one:5433,two:5433",
		"mysql://db/x": "",
	} {
		if got := pg.Place(address); got != place {
			t.Errorf("%s is at %q, not %q", address, got, place)
		}
	}
}

func TestAServerThatListensOnlyLaterIsWaitedFor(t *testing.T) {
	dbtest.WithoutCitus(t, "a server that is given may have no socket")
	t.Parallel()
	address, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	socket := filepath.Join(address.Query().Get("host"), ".s.PGSQL.5432")
	port := closedPort(t)
	go func() {
		time.Sleep(500 * time.Millisecond)
		relay(t, port, socket)
	}()
	late := *address
	late.Host, late.RawQuery = fmt.Sprint("127.0.0.1:", port), ""
	pool, err := pg.Open(t.Context(), late.String(), pg.Options{})
	fatal.If(t, err)
	fatal.If(t, pool.Close())
}

func TestAServerThatStaysAwayIsReported(t *testing.T) {
	t.Parallel()
	port := refusingPort(t)
	var waiting sync.WaitGroup
	for range 50 {
		// The time is over between two attempts, or during one: a busy machine needs some of it for the
		// first, and Open gives up by itself after five seconds.
		waiting.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := pg.Open(ctx, fmt.Sprintf("postgres://u@127.0.0.1:%d/x", port), pg.Options{})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("got %v", err)
			}
		})
	}
	waiting.Wait()
}

// refusingPort refuses connections until the test ends: it is taken, so that no other test
// listens on it, and nobody listens.
func refusingPort(t *testing.T) int {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, syscall.Close(socket)) })
	fatal.If(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	address, err := syscall.Getsockname(socket)
	fatal.If(t, err)
	return address.(*syscall.SockaddrInet4).Port
}

func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// relay stands in for a server on TCP, without TLS.
func relay(t *testing.T, port int, socket string) {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		t.Error(err)
		return
	}
	context.AfterFunc(t.Context(), func() { l.Close() })
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", socket)
		if err != nil {
			in.Close()
			return
		}
		go func() { _, _ = io.Copy(out, in); out.Close() }()
		go func() { _, _ = io.Copy(in, out); in.Close() }()
	}
}

func TestTranslatedErrors(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	failure := func(timeout time.Duration, statement string, args ...any) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := pool.ExecContext(ctx, statement, args...)
		return err
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, stopped := pool.ExecContext(canceled, "SELECT 1")
	late := pg.Translate(failure(time.Minute, "SET statement_timeout = 20; SELECT pg_sleep(5)"))
	for _, c := range []struct {
		name string
		err  error
		kind domain.ErrorKind
		is   error
	}{
		// PostgreSQL forgets a cancellation that arrives before it runs the statement.
		{"the caller's time is over", failure(time.Second, "SELECT pg_sleep($1)", 60), domain.KindUnavailable, context.DeadlineExceeded},
		{"the caller went away", stopped, domain.KindUnavailable, context.Canceled},
		{"the server's limit", late, domain.KindUnavailable, context.DeadlineExceeded},
		{"NUL in a text", failure(time.Minute, "SELECT $1::text", "a\x00b"), domain.KindInvalid, nil},
		{"broken UTF-8", failure(time.Minute, "SELECT $1::text", "a\xff"), domain.KindInvalid, nil},
		{"NUL in JSON", failure(time.Minute, "SELECT $1::jsonb", `"\u0000"`), domain.KindInvalid, nil},
		{"too many connections", &pq.Error{Code: "53300"}, domain.KindUnavailable, nil},
		{"a read-only database", failure(time.Minute, "SET transaction_read_only = on; CREATE TABLE written (n int)"), domain.KindUnavailable, nil},
		{"shutting down", &pq.Error{Code: "57P01"}, domain.KindUnavailable, nil},
		{"connection lost", &pq.Error{Code: "08006"}, domain.KindUnavailable, nil},
		{"a node that ends", &pq.Error{Code: "XX000", Message: "SSL SYSCALL error: EOF detected"}, domain.KindUnavailable, nil},
		{"a node that is killed", &pq.Error{Code: "XX000", Message: "server closed the connection unexpectedly"}, domain.KindUnavailable, nil},
		{"a node that is killed amid its rows", &pq.Error{Code: "58030", Message: "failed to COPY to shard 102008 on 10.0.0.2:5432"}, domain.KindUnavailable, nil},
		{"a node that is away", &pq.Error{Code: "XX000", Message: "failure on connection marked as essential: 127.0.0.1:9701"}, domain.KindUnavailable, nil},
		{"bad connection", driver.ErrBadConn, domain.KindUnavailable, driver.ErrBadConn},
		{"cut off", fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), domain.KindUnavailable, io.ErrUnexpectedEOF},
		{"no network", &net.OpError{Op: "dial", Err: errors.New("no route")}, domain.KindUnavailable, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := domain.AsError(pg.Translate(c.err))
			if !ok || got.Kind != c.kind {
				t.Fatalf("%v became %v", c.err, pg.Translate(c.err))
			}
			if c.is != nil && !errors.Is(got, c.is) {
				t.Fatalf("%v is lost", c.is)
			}
		})
	}
	divided := failure(time.Minute, "SELECT 1 / $1::int", 0)
	corrupt := &pq.Error{Code: "XX000", Message: "cache lookup failed for relation 7"}
	for _, err := range []error{nil, divided, corrupt, domain.NotFound("id", "group", "7")} {
		if got := pg.Translate(err); !errors.Is(got, err) {
			t.Fatalf("%v became %v", err, got)
		}
	}
}
