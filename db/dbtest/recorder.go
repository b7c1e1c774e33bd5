package dbtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Recorder notes the statements that run on its Pool, and asks PostgreSQL what they read.
type Recorder struct {
	// Pool has one connection, to the database of another pool.
	Pool *sqlx.DB

	t         testing.TB
	connector driver.Connector
	sql       string
	args      []any
	noting    bool
}

// NewRecorder returns one for the database that the pool leads to.
func NewRecorder(t testing.TB, of *sqlx.DB) *Recorder {
	t.Helper()
	var database string
	if err := of.GetContext(t.Context(), &database, "SELECT current_database()"); err != nil {
		t.Fatal(err)
	}
	server, err := suite.running()
	if err != nil {
		t.Fatal(err)
	}
	connector, err := pq.NewConnector(server.url(database))
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{t: t, connector: connector, noting: true}
	r.Pool = sqlx.NewDb(sql.OpenDB(recording{r}), "postgres")
	r.Pool.Mapper = of.Mapper
	r.Pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = r.Pool.Close() })
	return r
}

// Last returns the statement that was queried last, with its arguments.
func (r *Recorder) Last() (statement string, args []any) { return r.sql, r.args }

// Plan returns the plan of the last statement as text, with what each step read.
func (r *Recorder) Plan() string {
	r.t.Helper()
	var lines []string
	r.explain("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) ", func(sql string) error { return r.Pool.SelectContext(r.t.Context(), &lines, sql, r.args...) })
	text := r.sql + "\n"
	for _, line := range lines {
		text += line + "\n"
	}
	return text
}

// Buffers returns how many pages the last statement reads, found in memory or not, each
// as often as it is looked at.
func (r *Recorder) Buffers() int {
	r.t.Helper()
	var answer string
	r.explain("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ", func(sql string) error { return r.Pool.GetContext(r.t.Context(), &answer, sql, r.args...) })
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &plans); err != nil {
		r.t.Fatal(err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

// PagesRead returns how many pages of tables and their indexes were read since the database
// was made, of one table or for "" of all; the pool must have one connection. Making a plan
// reads pages, too.
func PagesRead(t testing.TB, pool *sqlx.DB, table string) (pages int) {
	t.Helper()
	pool.MustExecContext(t.Context(), `SELECT pg_stat_force_next_flush()`)
	err := pool.GetContext(t.Context(), &pages, `
SELECT sum(heap_blks_read + heap_blks_hit + COALESCE(idx_blks_read + idx_blks_hit, 0)) FROM pg_statio_user_tables WHERE relname = $1 OR $1 = ''`, table)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func (r *Recorder) explain(how string, run func(sql string) error) {
	r.t.Helper()
	r.noting = false
	defer func() { r.noting = true }()
	if err := run(how + r.sql); err != nil {
		r.t.Fatalf("%v\n%s", err, r.sql)
	}
}

// recording connects for a Recorder.
type recording struct{ *Recorder }

func (r recording) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.connector.Connect(ctx)
	return &recordedConn{conn, r.Recorder}, err
}

func (r recording) Driver() driver.Driver { return r.connector.Driver() }

type recordedConn struct {
	driver.Conn
	to *Recorder
}

// QueryContext implements driver.QueryerContext.
func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.to.noting {
		c.to.sql, c.to.args = query, make([]any, len(args))
		for i, arg := range args {
			c.to.args[i] = arg.Value
		}
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// ExecContext implements driver.ExecerContext.
func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}
