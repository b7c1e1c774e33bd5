package embedded_test

import (
	"path/filepath"
	"testing"
)

func TestDataSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), "data")
	s := start(t, dir)
	execute(t, s.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	must(t, s.Close())
	if pid := serverPID(dir); pid != 0 {
		t.Fatalf("the server %d still runs", pid)
	}
	if got := query(t, start(t, dir).URL(), "SELECT n FROM kept"); got != "42" {
		t.Fatalf("got %q", got)
	}
}
