package dbtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// endVariable makes TestEnds, in a copy of this test binary, end in that way.
const endVariable = "DBTEST_END"

func TestMain(m *testing.M) {
	dbtest.Main(m, func(ctx context.Context, pool *sqlx.DB) error {
		_, err := pool.ExecContext(ctx, "CREATE TABLE migrated (n int)")
		return err
	})
}

func TestEachDatabaseIsMigratedAndItsOwn(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			pool.MustExecContext(t.Context(), "INSERT INTO migrated VALUES ($1)", i)
			var rows []int
			fatal.If(t, pool.SelectContext(t.Context(), &rows, "SELECT n FROM migrated"))
			if len(rows) != 1 || rows[0] != i {
				t.Fatalf("got %v", rows)
			}
		})
	}
}

func TestADatabaseIsDroppedAfterItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("inner", func(t *testing.T) {
		fatal.If(t, dbtest.New(t).GetContext(t.Context(), &name, "SELECT current_database()"))
	})
	pool := dbtest.New(t)
	eventually(t, "the database is gone", func() bool {
		var left int
		fatal.If(t, pool.GetContext(t.Context(), &left, "SELECT count(*) FROM pg_database WHERE datname = $1", name))
		return left == 0
	})
}

// TestEnds is for TestNothingIsLeft alone.
func TestEnds(t *testing.T) {
	how := os.Getenv(endVariable)
	if how == "" {
		t.Skip("runs in a process of its own")
	}
	var dir string
	fatal.If(t, dbtest.New(t).GetContext(t.Context(), &dir, "SELECT current_setting('data_directory')"))
	fmt.Printf("data %s\n", dir)
	switch how {
	case "panic":
		panic("on purpose")
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
}

func TestNothingIsLeft(t *testing.T) {
	dbtest.WithoutCitus(t, "a server that is given stays")
	t.Parallel()
	for _, how := range []string{"well", "panic", "kill"} {
		t.Run("after "+how, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestEnds$")
			cmd.Env = append(os.Environ(), endVariable+"="+how)
			out, _ := cmd.Output()
			_, rest, found := strings.Cut(string(out), "data ")
			cluster, _, _ := strings.Cut(rest, "\n")
			if !found {
				t.Fatalf("no database: %s", out)
			}
			dir := filepath.Dir(filepath.Dir(cluster))
			eventually(t, dir+" is gone", func() bool {
				_, err := os.Stat(dir)
				return os.IsNotExist(err)
			})
			if left := processesOn(t, cluster); left != "" {
				t.Fatalf("still running: %s", left)
			}
		})
	}
}

func processesOn(t *testing.T, cluster string) string {
	t.Helper()
	out, err := exec.Command("ps", "-eww", "-o", "command=").Output()
	if err != nil {
		t.Skip("no ps here")
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, cluster) {
			return line
		}
	}
	return ""
}

func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if fact() {
			return
		}
	}
	t.Fatalf("not so after a minute: %s", what)
}

func TestAPairReplicates(t *testing.T) {
	t.Parallel()
	pair := dbtest.NewPair(t)
	primary, standby := open(t, pair.Primary), open(t, pair.Standby)
	primary.MustExecContext(t.Context(), "INSERT INTO migrated VALUES (7)")
	eventually(t, "the standby has the row", func() bool {
		var found []int
		err := standby.SelectContext(t.Context(), &found, "SELECT n FROM migrated WHERE pg_is_in_recovery()")
		return err == nil && len(found) == 1
	})
	pair.KillStandby()
	pair.StartStandby()
	eventually(t, "the standby answers again", func() bool {
		var n int
		return standby.GetContext(t.Context(), &n, "SELECT count(*) FROM migrated") == nil && n == 1
	})
}

func open(t *testing.T, url string) *sqlx.DB {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}
