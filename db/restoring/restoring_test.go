package restoring_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/restoring"
	"simgraph/internal/fatal"
)

// emptied is a database that an operator emptied, as docs/operations.md says.
func emptied(t *testing.T) *sqlx.DB {
	t.Helper()
	pool := dbtest.New(t)
	pool.MustExec(`DROP SCHEMA public CASCADE`)
	pool.MustExec(`CREATE SCHEMA public`)
	return pool
}

func TestARestoreIsKnownUntilItEnds(t *testing.T) {
	t.Parallel()
	pool, began := emptied(t), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	find := func() *restoring.Restore {
		found, err := restoring.Find(t.Context(), pool)
		fatal.If(t, err)
		return found
	}
	if found := find(); found != nil {
		t.Fatalf("before one began, there is %+v", found)
	}
	fatal.If(t, restoring.Begin(t.Context(), pool, "a.dump", began))
	if found := find(); found == nil || found.File != "a.dump" || !found.BegunAt.Equal(began) || found.Filled || len(found.Verified) != 0 {
		t.Fatalf("got %+v", found)
	}
	for _, company := range []string{"acme", "rival", "acme"} {
		fatal.If(t, restoring.NoteVerified(t.Context(), pool, company))
	}
	found := find()
	if slices.Sort(found.Verified); !slices.Equal(found.Verified, []string{"acme", "rival"}) {
		t.Fatalf("verified are %v", found.Verified)
	}
	// Another one takes its place.
	fatal.If(t, restoring.Begin(t.Context(), pool, "b.dump", began))
	if found := find(); found.File != "b.dump" || len(found.Verified) != 0 {
		t.Fatalf("got %+v", found)
	}
	for range 2 {
		fatal.If(t, restoring.End(t.Context(), pool))
		if found := find(); found != nil {
			t.Fatalf("after its end, there is %+v", found)
		}
	}
}

// A database is filled when the file is restored, and not when its restore begins.
func TestARestoreBeginsInAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	pool := emptied(t)
	fatal.If(t, restoring.Begin(t.Context(), pool, "a.dump", time.Now()))
	for _, filled := range []bool{false, true} {
		found, err := restoring.Find(t.Context(), pool)
		fatal.If(t, err)
		if found.Filled != filled {
			t.Errorf("it is filled: %v", found.Filled)
		}
		if !filled {
			pool.MustExec(`CREATE TABLE goose_db_version (version_id bigint)`)
		}
	}
	var left int
	fatal.If(t, pool.Get(&left, `SELECT count(*) FROM pg_namespace WHERE nspname IN ('analyst', 'analyst_login')`))
	if left != 0 {
		t.Errorf("%d schemas of roles are left, which the file makes", left)
	}
}
