//go:build linux

package faults_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// nextVersion is what migrations of a later version may do while this one runs:
// see db's TestMigrationsLeaveWhatTheVersionBeforeUses.
const nextVersion = `
ALTER TABLE subscribers ADD COLUMN next_note text, ADD COLUMN next_rank integer NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN next_cell text;
ALTER TABLE groups ADD COLUMN next_owner text;
CREATE TABLE next_things (company_id bigint NOT NULL PRIMARY KEY, note text);
CREATE INDEX next_by_nickname ON subscribers (company_id, nickname);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`

func TestTheVersionBeforeServesOnAndStartsOnTheSchemaOfTheNext(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url)
	pool := open(t, url)
	load := newTraffic(n, n.url(""))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { load.run(ctx) })
	more := func() func() bool {
		before := load.mutations.Load()
		return func() bool { return load.mutations.Load() > before+50 && load.records.Load() > 100 }
	}
	eventually(t, "requests are answered", more())
	if _, err := pool.Exec(nextVersion); err != nil {
		t.Fatal(err)
	}
	eventually(t, "requests are answered on the next schema", more())
	if !probe(n.addr) {
		t.Error("it is not ready on the schema of the next version")
	}
	stop()
	running.Wait()
	lost := load.lost(pool)
	n.signal(syscall.SIGTERM)
	n.awaitExit(patience)
	n.start()
	n.fleet(1)
	t.Logf("next version's migration under load: acknowledged %d queries, %d mutations, %d records, %d lists; failed %d; lost %d; ready during and after, and after a restart",
		load.queries.Load(), load.mutations.Load(), load.records.Load(), load.lists.Load(), len(load.failures), len(lost))
	if len(load.failures) > 0 || len(lost) > 0 {
		t.Errorf("failed %.3q, lost %.3q", load.failures, lost)
	}
}

func TestAVersionOnTheSchemaBeforeIsNotReadyUntilItIsMigrated(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	run(t, "migrate", "down", "--yes", "--database-url", url)
	s := serve(t, launch{databaseURL: url, dataDir: t.TempDir(), extra: []string{"--no-migrate"}})
	own := client(t)
	status := func(path string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
		response, err := own.Do(r)
		fatal.If(t, err)
		defer response.Body.Close()
		text := make([]byte, 200)
		n, _ := response.Body.Read(text)
		return response.StatusCode, string(text[:n])
	}
	if code, _ := status("/healthz"); code != http.StatusOK {
		t.Errorf("healthz: %d", code)
	}
	if code, text := status("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "not up to date") {
		t.Errorf("readyz: %d %s", code, text)
	}
	run(t, "migrate", "up", "--database-url", url)
	if code, text := status("/readyz"); code != http.StatusOK {
		t.Errorf("readyz: %d %s", code, text)
	}
	s.terminate()
}
