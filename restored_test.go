package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// A restore is verified for as long as its records take. The service on the restored database
// answers meanwhile, books usage, and its records are no difference.
func TestARestoredServiceAnswersWhileItIsVerified(t *testing.T) {
	t.Parallel()
	dir, file := dataDir(t), filepath.Join(t.TempDir(), "simgraph.dump")
	was, restored := []string{"SIMGRAPH_DATABASE_URL=" + dbtest.URL(t)}, dbtest.URL(t)
	for _, args := range [][]string{{"demo", "--subscribers", "300", "--days", "60"}, {"backup", file}} {
		if status, _, stderr := simgraphWith(t, dir, was, args...); status != 0 {
			t.Fatal(stderr)
		}
	}
	pool := openDatabase(t, restored)
	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	var out bytes.Buffer
	restore := exec.CommandContext(t.Context(), program, "restore", file, "--data-dir", dir)
	restore.Env, restore.Stdout, restore.Stderr = append(os.Environ(), "SIMGRAPH_DATABASE_URL="+restored), &out, &out
	fatal.If(t, restore.Start())
	ended := make(chan error, 1)
	go func() { ended <- restore.Wait() }()

	// The check waits for this table, before it has begun.
	tx := pool.MustBegin()
	for {
		if _, err := tx.Exec(`LOCK TABLE usage_rebuilds IN ACCESS EXCLUSIVE MODE`); err == nil {
			break
		}
		_ = tx.Rollback()
		select {
		case err := <-ended:
			t.Fatalf("the restore has ended: %v %s", err, &out)
		case <-time.After(20 * time.Millisecond):
		}
		tx = pool.MustBegin()
	}
	s := start(t, dataDir(t), nil, "--database-url", restored)
	if !strings.Contains(s.stderr.String(), "the database was restored and is not verified to the end") {
		t.Errorf("the log is %s", s.stderr)
	}
	asked := 0
	ask := func() {
		t.Helper()
		asked++
		status, page := s.get("/subscribers?limit=1", s.token)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, page)
		}
		id := page["content"].([]any)[0].(map[string]any)["physicalId"]
		at := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
		record := fmt.Sprintf(`{"source":"test","recordId":"%d","physicalId":"%s","sessionId":"s","startedAt":"%s","endedAt":"%s","mobileOriginated":1,"mobileTerminated":2}`, asked, id, at, at)
		if status, result := s.post("/usage/records", "application/x-ndjson", s.token, record); status != http.StatusOK || result["status"] != "accepted" {
			t.Fatalf("%d %v", status, result)
		}
	}
	for range 3 {
		ask()
	}
	fatal.If(t, tx.Rollback())
	for {
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(out.String(), "demo: restored, the audit log is one chain and all totals agree with the ledger") {
				t.Errorf("%v %s", err, &out)
			}
			return
		default:
			ask()
		}
	}
}
