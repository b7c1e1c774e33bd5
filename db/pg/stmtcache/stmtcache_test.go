package stmtcache_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/dbtest"
	"simgraph/db/pg/stmtcache"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, nil) }

// open returns a pool of one connection, so that each statement meets the same.
func open(t testing.TB, address string, size int) *sql.DB {
	t.Helper()
	inner, err := pq.NewConnector(address)
	fatal.If(t, err)
	db := sql.OpenDB(stmtcache.New(inner, new(net.Dialer), size, nil))
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), query, args...)
	fatal.If(t, err)
}

func number(t testing.TB, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	fatal.If(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// held counts the statements that the server holds for the connection.
func held(t testing.TB, db *sql.DB) int {
	t.Helper()
	return number(t, db, "SELECT count(*) FROM pg_prepared_statements")
}

func TestAStatementIsPreparedOnce(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE numbers (n int)")
	for i := range 5 {
		execute(t, db, "INSERT INTO numbers VALUES ($1)", i)
		if got := number(t, db, "SELECT count(*) FROM numbers WHERE n <= $1", i); got != i+1 {
			t.Fatalf("got %d rows after %d", got, i)
		}
	}
	if got := held(t, db); got != 2 {
		t.Fatalf("the server holds %d statements", got)
	}
}

func TestTheStatementsUsedLastAreKept(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 3)
	for _, i := range []int{1, 2, 3, 1, 4, 5} {
		number(t, db, fmt.Sprintf("SELECT $1::int + %d", i), 0)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT statement FROM pg_prepared_statements ORDER BY statement")
	fatal.If(t, err)
	defer rows.Close()
	var kept []string
	for rows.Next() {
		var s string
		fatal.If(t, rows.Scan(&s))
		kept = append(kept, s)
	}
	fatal.If(t, rows.Err())
	if want := []string{"SELECT $1::int + 1", "SELECT $1::int + 4", "SELECT $1::int + 5"}; !slices.Equal(kept, want) {
		t.Fatalf("kept %q", kept)
	}
}

func TestSizeZeroPreparesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t)+"&binary_parameters=yes", 0)
	if got := number(t, db, "SELECT $1::int", 7); got != 7 {
		t.Fatalf("got %d", got)
	}
	if got := held(t, db); got != 0 {
		t.Fatalf("the server holds %d statements", got)
	}
}

func TestAnAlteredTableIsNoError(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE altered (n int)")
	execute(t, db, "INSERT INTO altered VALUES (1)")
	const query = "SELECT * FROM altered WHERE n = $1"
	number(t, db, query, 1)
	execute(t, db, "ALTER TABLE altered ADD COLUMN text text DEFAULT 'new'")
	var n int
	var text string
	fatal.If(t, db.QueryRowContext(t.Context(), query, 1).Scan(&n, &text))
	if text != "new" {
		t.Fatalf("got %q", text)
	}
}

func TestInATransactionAnAlteredTableIsReported(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE altered (n int)")
	const query = "SELECT * FROM altered WHERE n = $1"
	execute(t, db, query, 1)
	execute(t, db, "ALTER TABLE altered ADD COLUMN m int")
	tx, err := db.BeginTx(t.Context(), nil)
	fatal.If(t, err)
	_, err = tx.QueryContext(t.Context(), query, 1)
	if pq.As(err, pqerror.FeatureNotSupported) == nil {
		t.Fatalf("got %v", err)
	}
	fatal.If(t, tx.Rollback())
	execute(t, db, query, 1)
}

func TestDeallocatedStatementsArePreparedAgain(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	for range 2 {
		for i := range 3 {
			if got := number(t, db, fmt.Sprintf("SELECT $1::int + %d", i), 1); got != i+1 {
				t.Fatalf("got %d", got)
			}
		}
		execute(t, db, "DEALLOCATE ALL")
	}
}

func TestAFailedStatementIsNotKept(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	for range 2 {
		_, err := db.ExecContext(t.Context(), "SELECT n FROM nowhere WHERE n = $1", 1)
		if pq.As(err, pqerror.UndefinedTable) == nil {
			t.Fatalf("got %v", err)
		}
	}
	if got := held(t, db); got != 0 {
		t.Fatalf("the server holds %d statements", got)
	}
	_, err := db.ExecContext(t.Context(), "SELECT 1 / $1::int", 0)
	if pq.As(err, pqerror.DivisionByZero) == nil {
		t.Fatalf("got %v", err)
	}
	if got := number(t, db, "SELECT 1 / $1::int", 1); got != 1 {
		t.Fatalf("got %d", got)
	}
	_, err = db.ExecContext(t.Context(), "SELECT $1::int", 1, 2)
	if err == nil {
		t.Fatal("too many arguments are an error")
	}
	if got := number(t, db, "SELECT $1::int", 3); got != 3 {
		t.Fatalf("got %d", got)
	}
}

func TestSeveralStatementsInOneText(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE a (n int); CREATE TABLE b (n int)")
	rows, err := db.QueryContext(t.Context(), "SELECT 1; SELECT 2")
	fatal.If(t, err)
	defer rows.Close()
	var got []int
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var n int
			fatal.If(t, rows.Scan(&n))
			got = append(got, n)
		}
	}
	fatal.If(t, rows.Err())
	if !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("got %v", got)
	}
}

func TestArgumentsOfEveryKind(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	when := time.Date(2026, 11, 1, 10, 5, 0, 123456000, time.UTC)
	for _, size := range []int{0, 8} {
		db := open(t, address, size)
		for range 2 {
			var (
				texts   []string
				numbers []int64
				at      time.Time
				blob    []byte
				none    sql.NullString
				doc     string
			)
			row := db.QueryRowContext(t.Context(),
				"SELECT $1::text[], $2::bigint[], $3::timestamptz, $4::bytea, $5::text, $6::jsonb->>'k'",
				[]string{"a,b", `"c"`}, pq.Array([]int64{1, 2}), when, []byte{0, 255}, nil, `{"k":"v"}`)
			fatal.If(t, row.Scan(pq.Array(&texts), pq.Array(&numbers), &at, &blob, &none, &doc))
			if !slices.Equal(texts, []string{"a,b", `"c"`}) || !slices.Equal(numbers, []int64{1, 2}) ||
				!at.Equal(when) || string(blob) != "\x00\xff" || none.Valid || doc != "v" {
				t.Fatalf("size %d: got %v %v %v %v %v %v", size, texts, numbers, at, blob, none, doc)
			}
		}
	}
}

func TestCopyInATransaction(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE copied (n int, s text)")
	tx, err := db.BeginTx(t.Context(), nil)
	fatal.If(t, err)
	stmt, err := tx.PrepareContext(t.Context(), "COPY copied (n, s) FROM STDIN")
	fatal.If(t, err)
	for i := range 1000 {
		_, err := stmt.ExecContext(t.Context(), i, "x")
		fatal.If(t, err)
	}
	_, err = stmt.ExecContext(t.Context())
	fatal.If(t, err)
	fatal.If(t, stmt.Close())
	fatal.If(t, tx.Commit())
	if got := number(t, db, "SELECT count(*) FROM copied WHERE s = $1", "x"); got != 1000 {
		t.Fatalf("got %d rows", got)
	}
}

func TestATransactionWritesOnlyWhereTheSettingsOfTheServerLetIt(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE written (n int)")
	insert := func() error {
		tx, err := db.BeginTx(t.Context(), nil)
		fatal.If(t, err)
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO written VALUES ($1)", 1); err != nil {
			return err
		}
		return tx.Commit()
	}
	fatal.If(t, insert())
	execute(t, db, "SET default_transaction_read_only = on")
	if err := insert(); pq.As(err, pqerror.ReadOnlySQLTransaction) == nil {
		t.Errorf("got %v", err)
	}
	execute(t, db, "SET default_transaction_read_only = off")
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	fatal.If(t, err)
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO written VALUES ($1)", 1); pq.As(err, pqerror.ReadOnlySQLTransaction) == nil {
		t.Errorf("in a transaction that reads: %v", err)
	}
	fatal.If(t, tx.Rollback())
	if got := number(t, db, "SELECT count(*) FROM written"); got != 1 {
		t.Errorf("%d rows", got)
	}
}

func TestTransactionsOfEveryModeFollowOneAnotherOnAConnection(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	execute(t, db, "CREATE TABLE written (n int)")
	backend := number(t, db, "SELECT pg_backend_pid()")
	for _, c := range []struct {
		options sql.TxOptions
		mode    string
		writes  bool
	}{
		{sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, "repeatable read, on", false},
		{sql.TxOptions{}, "read committed, off", true},
		{sql.TxOptions{}, "read committed, off", true},
		{sql.TxOptions{}, "read committed, off", true},
		{sql.TxOptions{ReadOnly: true}, "read committed, on", false},
		{sql.TxOptions{}, "read committed, off", true},
		{sql.TxOptions{Isolation: sql.LevelSerializable}, "serializable, off", true},
		{sql.TxOptions{}, "read committed, off", true},
		{sql.TxOptions{}, "read committed, off", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := db.BeginTx(ctx, &c.options)
		fatal.If(t, err)
		var mode string
		fatal.If(t, tx.QueryRowContext(ctx, "SELECT current_setting('transaction_isolation') || ', ' || current_setting('transaction_read_only')").Scan(&mode))
		if mode != c.mode {
			t.Errorf("%+v: %s", c.options, mode)
		}
		if c.writes {
			_, err = tx.ExecContext(ctx, "INSERT INTO written VALUES ($1)", 1)
			fatal.If(t, err)
		}
		fatal.If(t, tx.Commit())
		cancel() // of a transaction that is over: it must not meet the next
	}
	if got := number(t, db, "SELECT count(*) FROM written"); got != 7 {
		t.Errorf("%d rows", got)
	}
	if number(t, db, "SELECT pg_backend_pid()") != backend {
		t.Error("the connection was given up")
	}
}

func TestATransactionWithAnUnknownIsolationDoesNotBegin(t *testing.T) {
	t.Parallel()
	db := open(t, dbtest.URL(t), 8)
	if tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelLinearizable}); err == nil {
		t.Errorf("began %v", tx)
	}
	if got := number(t, db, "SELECT $1::int", 1); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestACancelledStatementNamesTheContextAndLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 8} {
		t.Run(fmt.Sprint("size ", size), func(t *testing.T) {
			t.Parallel()
			address := dbtest.URL(t)
			db, watcher := open(t, address, size), open(t, address, 8)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := db.ExecContext(ctx, "SELECT pg_sleep($1)", 600)
				ended <- err
			}()
			// lib/pq cancels once: before the server runs it that would have no effect.
			eventually(t, watcher, "SELECT pg_sleep%", 1)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if got := number(t, db, "SELECT $1::int", 1); got != 1 {
				t.Fatalf("got %d", got)
			}
		})
	}
}

func TestAConnectionThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	db, other := open(t, address, 8), open(t, address, 8)
	execute(t, other, "SELECT pg_terminate_backend($1::int)", number(t, db, "SELECT pg_backend_pid()"))
	if got := number(t, db, "SELECT $1::int", 1); got != 1 {
		t.Fatalf("got %d", got)
	}
	fatal.If(t, db.PingContext(t.Context()))
}

func BenchmarkStatement(b *testing.B) {
	address := dbtest.URL(b)
	setup := open(b, address, 0)
	execute(b, setup, "CREATE TABLE subscribers (company_id bigint, id bigint, name text, PRIMARY KEY (company_id, id))")
	execute(b, setup, "INSERT INTO subscribers SELECT 1, i, 'van ' || i FROM generate_series(1, 1000) i")
	execute(b, setup, "ANALYZE subscribers")
	for _, variant := range []struct {
		name, parameters string
		size             int
	}{
		{"unprepared", "", 0},
		{"binary", "&binary_parameters=yes", 0},
		{"cached", "", stmtcache.DefaultSize},
	} {
		b.Run(variant.name, func(b *testing.B) {
			db := open(b, address+variant.parameters, variant.size)
			var name string
			for i := 0; b.Loop(); i++ {
				err := db.QueryRowContext(b.Context(), "SELECT name FROM subscribers WHERE company_id = $1 AND id = $2", 1, i%1000+1).Scan(&name)
				fatal.If(b, err)
			}
		})
	}
}
