package pg_test

import (
	"testing"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

func TestASnapshotSeesOneMomentAndNothingWithoutItsConnection(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), address, pg.Options{MaxConns: 2})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	pool.MustExec("CREATE TABLE n (n int)")
	pool.MustExec("INSERT INTO n VALUES (1)")
	snapshot, err := pg.OpenSnapshot(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = snapshot.Close() })
	for range 2 {
		if n, err := pg.Count(t.Context(), snapshot, "SELECT count(*) FROM n"); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		pool.MustExec("INSERT INTO n VALUES (2)")
	}
	if _, err := snapshot.ExecContext(t.Context(), "INSERT INTO n VALUES (3)"); err == nil {
		t.Error("a snapshot writes")
	}
	again, err := pg.OpenSnapshot(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = again.Close() })
	pid, err := pg.Count(t.Context(), again, "SELECT pg_backend_pid()")
	fatal.If(t, err)
	pool.MustExec("SELECT pg_terminate_backend($1::int)", pid)
	for range 2 {
		if n, err := pg.Count(t.Context(), again, "SELECT count(*) FROM n"); err == nil {
			t.Errorf("it reads %d rows after its connection is lost", n)
		}
	}
}
