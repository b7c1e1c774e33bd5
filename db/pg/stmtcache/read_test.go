package stmtcache_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/dbtest"
	"simgraph/db/pg/stmtcache"
	"simgraph/internal/fatal"
)

// numbers reads rows whose first column is an int.
type numbers struct {
	read    []int64
	columns *stmtcache.Columns
	refuse  error
}

func (n *numbers) Columns(c *stmtcache.Columns) error {
	n.columns = c
	return nil
}

func (n *numbers) Row(values []driver.Value) error {
	n.read = append(n.read, values[0].(int64))
	return n.refuse
}

// signalling closes begun at the first row.
type signalling struct {
	numbers
	begun chan struct{}
}

func (s *signalling) Row(values []driver.Value) error {
	if len(s.read) == 0 {
		close(s.begun)
	}
	return s.numbers.Row(values)
}

func read(ctx context.Context, t testing.TB, db *sql.DB, to stmtcache.RowReader, query string, args ...any) (began bool, err error) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	fatal.If(t, err)
	defer conn.Close()
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	err = conn.Raw(func(c any) (err error) {
		began, err = c.(stmtcache.Conn).ReadRows(ctx, query, values, to)
		return err
	})
	return began, err
}

// pid is that of the server's process behind the only connection.
const pid = "SELECT pg_backend_pid()"

func TestEveryRunReadsAllRowsWithTheSameColumns(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	const query = "SELECT g, repeat('x', 1 + g % 3000), NULL::text FROM generate_series(1, $1::int) g"
	var want []int64
	for i := range int64(5000) {
		want = append(want, i+1)
	}
	var columns *stmtcache.Columns
	for run := range 4 {
		var got numbers
		began, err := read(t.Context(), t, db, &got, query, int64(len(want)))
		fatal.If(t, err)
		if !began || !slices.Equal(got.read, want) {
			t.Fatalf("run %d: began %t, %d rows", run, began, len(got.read))
		}
		if names := got.columns.Names; !slices.Equal(names, []string{"g", "repeat", "text"}) || run > 0 && got.columns != columns {
			t.Errorf("run %d: the columns are %+v", run, got.columns)
		}
		columns = got.columns
	}
	if got := number(t, db, "SELECT $1::int", 7); got != 7 { // by lib/pq
		t.Errorf("got %d", got)
	}
}

func TestWhatTheServerSaysBesidesDoesNotDisturb(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, `CREATE FUNCTION chatty(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RAISE WARNING '%', repeat('w', n);
  PERFORM set_config('application_name', 'chatty ' || n, false);
  RETURN n;
END $$`)
	for range 3 {
		var got numbers
		_, err := read(t.Context(), t, db, &got, "SELECT chatty(g) FROM generate_series(1, $1::int) g", int64(300))
		fatal.If(t, err)
		if len(got.read) != 300 {
			t.Errorf("read %d rows", len(got.read))
		}
	}
}

func TestAnErrorAmongTheRowsIsReturned(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	before := number(t, db, pid)
	for run := range 3 {
		var got numbers
		began, err := read(t.Context(), t, db, &got, "SELECT g / (5000 - g) FROM generate_series(1, $1::int) g", int64(9000))
		if pq.As(err, pqerror.DivisionByZero) == nil || !began || len(got.read) != 4999 {
			t.Errorf("run %d: began %t, %d rows, %v", run, began, len(got.read), err)
		}
	}
	if after := number(t, db, pid); after != before {
		t.Error("the connection was given up")
	}
}

func TestTheErrorOfAReaderIsReturnedAndTheConnectionKept(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	before := number(t, db, pid)
	for range 3 {
		got := numbers{refuse: errors.New("refused")}
		began, err := read(t.Context(), t, db, &got, "SELECT g FROM generate_series(1, $1::int) g", int64(9000))
		if !errors.Is(err, got.refuse) || !began || len(got.read) != 1 {
			t.Errorf("began %t, %d rows, %v", began, len(got.read), err)
		}
	}
	if after := number(t, db, pid); after != before {
		t.Error("the connection was given up")
	}
}

func TestWhatTheServerForgotIsPreparedAgain(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]string{"altered": "ALTER TABLE kept ALTER n TYPE int USING n + 1", "forgotten": "DEALLOCATE ALL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, dbtest.URL(t), 8)
			execute(t, db, "CREATE TABLE kept (n smallint)")
			execute(t, db, "INSERT INTO kept VALUES (1)")
			const query = "SELECT n::int + $1::int, * FROM kept"
			for run := range 5 {
				if run == 2 {
					execute(t, db, forget)
				}
				var got numbers
				_, err := read(t.Context(), t, db, &got, query, int64(run))
				fatal.If(t, err)
				want := int64(1 + run)
				if run >= 2 && name == "altered" {
					want++
				}
				if !slices.Equal(got.read, []int64{want}) {
					t.Errorf("run %d: %+v", run, got)
				}
			}
		})
	}
}

func TestAQueryEndsAmongItsRowsInTheServerWhenItsContextDoes(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	db, watcher := open(t, address, 8), open(t, address, 8)
	before := number(t, db, pid)
	const query = "SELECT g, pg_sleep(g / 2 * $1::float) FROM generate_series(1, 2) g"
	_, err := read(t.Context(), t, db, new(numbers), query, 0.0)
	fatal.If(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := read(ctx, t, db, new(numbers), query, 600.0)
		ended <- err
	}()
	eventually(t, watcher, "SELECT g, pg_sleep%", 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, watcher, "SELECT g, pg_sleep%", 0)
	if after := number(t, db, pid); after != before {
		t.Error("the connection was given up")
	}
	if began, err := read(ctx, t, db, new(numbers), query, 0.0); began || !errors.Is(err, context.Canceled) {
		t.Errorf("run after its context: %t, %v", began, err)
	}
}

func TestAnInterruptionNeverMeetsTheNextQuery(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	const query = "SELECT g, pg_sleep(0.0001) FROM generate_series(1, $1::int) g"
	_, err := read(t.Context(), t, db, new(numbers), query, int64(5))
	fatal.If(t, err)
	for i := range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
		if _, err := read(ctx, t, db, new(numbers), query, int64(5)); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
		var got numbers
		_, err := read(t.Context(), t, db, &got, "SELECT $1::int", int64(i))
		fatal.If(t, err)
		if !slices.Equal(got.read, []int64{int64(i)}) {
			t.Fatalf("got %d", got.read)
		}
	}
}

func TestAConnectionThatDiesIsNotReadTwice(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	db, killer := open(t, address, 8), open(t, address, 8)
	const idle, among = "SELECT g FROM generate_series(1, $1::int) g", "SELECT g, pg_sleep(g / 5000 * 600) FROM generate_series(1, $1::int) g"
	for _, query := range []string{idle, among} {
		_, err := read(t.Context(), t, db, new(numbers), query, int64(5))
		fatal.If(t, err)
	}
	kill := func() { execute(t, killer, fmt.Sprintf("SELECT pg_terminate_backend(%d, 5000)", number(t, db, pid))) }
	kill()
	var none numbers
	if began, err := read(t.Context(), t, db, &none, idle, int64(5)); began || !errors.Is(err, driver.ErrBadConn) || none.read != nil {
		t.Errorf("while it was idle: began %t, %d rows, %v", began, len(none.read), err)
	}

	_, err := read(t.Context(), t, db, new(numbers), among, int64(5))
	fatal.If(t, err)
	backend := number(t, db, pid)
	ended := make(chan error)
	some := signalling{begun: make(chan struct{})}
	go func() {
		began, err := read(t.Context(), t, db, &some, among, int64(9000))
		if !began {
			t.Error("may be run again")
		}
		ended <- err
	}()
	<-some.begun
	execute(t, killer, fmt.Sprintf("SELECT pg_terminate_backend(%d, 5000)", backend))
	if err := <-ended; err == nil || len(some.read) == 0 {
		t.Errorf("among rows: %d rows, %v", len(some.read), err)
	}
}

func TestTheObserverIsCalledOnceForAQuery(t *testing.T) {
	t.Parallel()
	inner, err := pq.NewConnector(dbtest.URL(t))
	fatal.If(t, err)
	var calls []string
	db := sql.OpenDB(stmtcache.New(inner, new(net.Dialer), 8, func(_ context.Context, query string) func(error) {
		calls = append(calls, query)
		return func(err error) { calls = append(calls, fmt.Sprint(err)) }
	}))
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	const query = "SELECT g FROM generate_series(1, $1::int) g"
	for range 2 {
		_, err := read(t.Context(), t, db, new(numbers), query, int64(9))
		fatal.If(t, err)
	}
	if got := strings.Join(calls, "|"); got != query+"|<nil>|"+query+"|<nil>" {
		t.Errorf("got %s", got)
	}
}

// cutting closes connections, once cut is set, where an answer lacks only its end.
type cutting struct {
	net.Dialer
	cut bool
}

func (c *cutting) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.Dialer.DialContext(ctx, network, address)
	return &cuttable{Conn: conn, by: c}, err
}

type cuttable struct {
	net.Conn
	by   *cutting
	gone bool
}

func (c *cuttable) Read(b []byte) (int, error) {
	if c.gone {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(b)
	const ready = "Z\x00\x00\x00\x05I"
	if answer, whole := bytes.CutSuffix(b[:n], []byte(ready)); whole && c.by.cut {
		c.gone, n = true, len(answer)
	}
	return n, err
}

func TestAStatementThatWasAnsweredIsNotRunAgain(t *testing.T) {
	t.Parallel()
	inner, err := pq.NewConnector(dbtest.URL(t))
	fatal.If(t, err)
	network := new(cutting)
	db := sql.OpenDB(stmtcache.New(inner, network, 8, nil))
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	const query = "SELECT g FROM generate_series(1, $1::int) g"
	_, err = read(t.Context(), t, db, new(numbers), query, int64(0))
	fatal.If(t, err)
	network.cut = true
	if began, err := read(t.Context(), t, db, new(numbers), query, int64(0)); !began || !errors.Is(err, driver.ErrBadConn) {
		t.Errorf("began %t, %v", began, err)
	}
}

// panicking panics at the first row.
type panicking struct{ numbers }

func (p *panicking) Row([]driver.Value) error { panic("at a row") }

func TestAReaderThatPanicsCostsItsConnectionOnly(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	const query = "SELECT g FROM generate_series(1, $1::int) g"
	_, err := read(t.Context(), t, db, new(numbers), query, int64(9))
	fatal.If(t, err)
	before := number(t, db, pid)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = read(t.Context(), t, db, new(panicking), query, int64(9000))
	}()
	var got numbers
	_, err = read(t.Context(), t, db, &got, query, int64(9))
	fatal.If(t, err)
	if len(got.read) != 9 || number(t, db, pid) == before {
		t.Errorf("read %d rows on the same connection", len(got.read))
	}
}
