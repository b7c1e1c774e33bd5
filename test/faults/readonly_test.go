//go:build linux

package faults_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/internal/fatal"
)

// readOnly has a server refuse writes from now on, or take them again, as cloud
// services do when a disk is full.
func readOnly(t *testing.T, pool *sqlx.DB, value string) {
	t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + value, "SELECT pg_reload_conf()"} {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// readiness probes as a balancer does.
func readiness(t *testing.T, base string) (status int, text string) {
	t.Helper()
	response, err := client(t).Get(base + "/readyz")
	fatal.If(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fatal.If(t, err)
	return response.StatusCode, string(body)
}

// settled waits for the transactions that began before.
func settled(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	var now time.Time
	fatal.If(t, pool.Get(&now, `SELECT clock_timestamp()`))
	eventually(t, "no transaction is left of before", func() bool {
		var left int
		fatal.If(t, pool.Get(&left, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start < $1`, now))
		return left == 0
	})
}

// written counts what requests write.
func written(t *testing.T, pool *sqlx.DB) (n int) {
	t.Helper()
	const rows = `SELECT (SELECT count(*) FROM usage_records) + (SELECT count(*) FROM audit_log) + (SELECT count(*) FROM subscriber_tags)`
	fatal.If(t, pool.Get(&n, rows))
	return n
}

const (
	readOnlyReason  = "default_transaction_read_only is on"
	writesAreLogged = "the database takes writes again"
)

func TestTheDatabaseIsReadOnly(t *testing.T) {
	t.Parallel()
	x, d := onDatabase(t)
	x.begin()
	admin := d.open()
	readOnly(t, admin, "on")
	eventually(t, "writes are refused", func() bool { return x.load.counted("UNAVAILABLE") > 10 })
	settled(t, admin)
	rows, reads := written(t, admin), x.load.reads.Load()
	if _, err := x.load.exchange(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a token, which would be written: %v", err)
	}
	eventually(t, "reads go on", func() bool { return x.load.reads.Load() > reads+50 })
	if now := written(t, admin); now != rows {
		t.Errorf("%d rows became %d", rows, now)
	}
	eventually(t, "the log has the reason", func() bool { return strings.Contains(x.simgraph.stderr.String(), readOnlyReason) })
	if status, text := readiness(t, x.simgraph.base); status != http.StatusOK || !strings.Contains(text, readOnlyReason) {
		t.Errorf("readyz: %d %s", status, text)
	}
	readOnly(t, admin, "off")
	x.recovers(time.Now())
	x.flow(300)
	eventually(t, "the log has the end", func() bool { return strings.Contains(x.simgraph.stderr.String(), writesAreLogged) })
	if status, text := readiness(t, x.simgraph.base); status != http.StatusOK || strings.Contains(text, readOnlyReason) {
		t.Errorf("readyz: %d %s", status, text)
	}
	x.finish("database read-only, and then no more", d.url())
}

func TestTheServerStartsOnADatabaseThatIsReadOnly(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	l := launch{databaseURL: d.url(), dataDir: t.TempDir()}
	s := serve(t, l)
	c := newCaller(t, s.base)
	s.terminate()
	readOnly(t, d.open(), "on")
	s = serve(t, l)
	c.aim(s.base)
	var page struct{ Content []struct{ PhysicalID string } }
	if result := c.get(t.Context(), "/subscribers?limit=20", &page); result != done || len(page.Content) != 20 {
		t.Errorf("a list: %v, %d subscribers, %v", result, len(page.Content), c.wrong)
	}
	var answer any
	const mutation = `mutation ($tag: String!, $ids: [String!]!) {attachTag(input: {tagName: $tag, physicalIds: $ids}) {__typename}}`
	input := map[string]any{"tag": "late", "ids": []string{physicalID(1)}}
	if result := c.graph(t.Context(), mutation, input, &answer); result != refused || c.counted("UNAVAILABLE") != 1 {
		t.Errorf("a mutation: %v, %v, %v", result, c.codes, c.wrong)
	}
	s.terminate()
}
