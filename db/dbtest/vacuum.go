package dbtest

import (
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// VacuumAnalyze vacuums and analyzes tables until index scans need not look at their rows. One
// VACUUM may not do: a connection that somebody opens to another database of the server holds back
// what it may mark as visible to all.
func VacuumAnalyze(t testing.TB, pool *sqlx.DB, tables ...string) {
	t.Helper()
	list := strings.Join(tables, ", ")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		// Without INDEX_CLEANUP it leaves pages with few dead rows as they are.
		pool.MustExecContext(t.Context(), "VACUUM (ANALYZE, INDEX_CLEANUP ON) "+list)
		var left int
		err := pool.GetContext(t.Context(), &left, `SELECT count(*) FROM pg_class WHERE oid = ANY(string_to_array($1, ', ')::regclass[]) AND relallvisible < relpages`, list)
		switch {
		case err != nil:
			t.Fatal(err)
		case left == 0:
			return
		case time.Now().After(deadline):
			t.Fatalf("rows of %s are not visible to all after a minute", list)
		}
	}
}
