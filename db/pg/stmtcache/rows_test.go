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

// numbers are read of rows whose first column is an int.
type numbers struct {
	read []int64
	// each is called for every row, unless nil.
	each func() error
}

// read reads the rows of a query by database/sql.
func read(ctx context.Context, db *sql.DB, to *numbers, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var first int64
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(any)
	}
	into[0] = &first
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		to.read = append(to.read, first)
		if to.each != nil {
			if err := to.each(); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// pid is that of the server's process behind the only connection.
const pid = "SELECT pg_backend_pid()"

func TestEveryRunReadsAllRows(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	const query = "SELECT g, repeat('x', 1 + g % 3000), NULL::text FROM generate_series(1, $1::int) g"
	var want []int64
	for i := range int64(5000) {
		want = append(want, i+1)
	}
	for run := range 4 {
		var got numbers
		fatal.If(t, read(t.Context(), db, &got, query, int64(len(want))))
		if !slices.Equal(got.read, want) {
			t.Fatalf("run %d: %d rows", run, len(got.read))
		}
	}
	if got := number(t, db, "SELECT $1::int", 7); got != 7 {
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
		fatal.If(t, read(t.Context(), db, &got, "SELECT chatty(g) FROM generate_series(1, $1::int) g", int64(300)))
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
		err := read(t.Context(), db, &got, "SELECT g / (5000 - g) FROM generate_series(1, $1::int) g", int64(9000))
		if pq.As(err, pqerror.DivisionByZero) == nil || len(got.read) != 4999 {
			t.Errorf("run %d: %d rows, %v", run, len(got.read), err)
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
		refused := errors.New("refused")
		got := numbers{each: func() error { return refused }}
		err := read(t.Context(), db, &got, "SELECT g FROM generate_series(1, $1::int) g", int64(9000))
		if !errors.Is(err, refused) || len(got.read) != 1 {
			t.Errorf("%d rows, %v", len(got.read), err)
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
				fatal.If(t, read(t.Context(), db, &got, query, int64(run)))
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
	fatal.If(t, read(t.Context(), db, new(numbers), query, 0.0))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- read(ctx, db, new(numbers), query, 600.0)
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
	if err := read(ctx, db, new(numbers), query, 0.0); !errors.Is(err, context.Canceled) {
		t.Errorf("run after its context: %v", err)
	}
}

func TestAnInterruptionNeverMeetsTheNextQuery(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	const query = "SELECT g, pg_sleep(0.0001) FROM generate_series(1, $1::int) g"
	fatal.If(t, read(t.Context(), db, new(numbers), query, int64(5)))
	for i := range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
		if err := read(ctx, db, new(numbers), query, int64(5)); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
		var got numbers
		fatal.If(t, read(t.Context(), db, &got, "SELECT $1::int", int64(i)))
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
		fatal.If(t, read(t.Context(), db, new(numbers), query, int64(5)))
	}
	kill := func(pid int) { execute(t, killer, fmt.Sprintf("SELECT pg_terminate_backend(%d, 5000)", pid)) }
	kill(number(t, db, pid))
	var again numbers
	if err := read(t.Context(), db, &again, idle, int64(5)); err != nil || !slices.Equal(again.read, []int64{1, 2, 3, 4, 5}) {
		t.Errorf("while it was idle: read %d, %v", again.read, err)
	}

	fatal.If(t, read(t.Context(), db, new(numbers), among, int64(5)))
	backend := number(t, db, pid)
	ended := make(chan error)
	begun := make(chan struct{})
	var some numbers
	some.each = func() error {
		if len(some.read) == 1 {
			close(begun)
		}
		return nil
	}
	go func() { ended <- read(t.Context(), db, &some, among, int64(9000)) }()
	<-begun
	kill(backend)
	if err := <-ended; err == nil || len(some.read) == 0 || some.read[len(some.read)-1] != int64(len(some.read)) {
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
		fatal.If(t, read(t.Context(), db, new(numbers), query, int64(9)))
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
	fatal.If(t, read(t.Context(), db, new(numbers), query, int64(0)))
	network.cut = true
	if err := read(t.Context(), db, new(numbers), query, int64(0)); !errors.Is(err, driver.ErrBadConn) {
		t.Errorf("got %v", err)
	}
}
