package dbtest

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// Binaries that find a shared server have databases of their own on it, with the schema;
// it stays until the last of them has ended, and takes no more of them by then.
func TestBinariesShareAServerUntilTheLastHasEnded(t *testing.T) {
	if OnCitus() {
		t.Skip("binaries on Citus share no server")
	}
	t.Setenv("TMPDIR", t.TempDir())
	join := func(migrate Migrate) *server {
		t.Helper()
		s, err := joinShared(t.Context(), migrate)
		fatal.If(t, err)
		return s
	}
	if join(db.Migrate) != nil {
		t.Fatal("a server is found before there is one")
	}
	stop, err := Share(t.Context(), db.Migrate)
	fatal.If(t, err)
	again, err := Share(t.Context(), db.Migrate)
	if err != nil || again() != nil {
		t.Fatalf("where one is shared already: %v", err)
	}
	other := func(context.Context, *sqlx.DB) error { return nil }
	if join(nil) != nil || join(other) != nil {
		t.Error("a binary with another schema joins")
	}
	one, two := join(db.Migrate), join(db.Migrate)
	if one == nil || two == nil || one.address.String() != two.address.String() {
		t.Fatalf("%v and %v", one, two)
	}
	for i, s := range []*server{one, two} {
		name := fmt.Sprintf("test_%d_shared_%d", os.Getpid(), i)
		fatal.If(t, s.clone(t.Context(), name))
		pool, err := pg.Open(t.Context(), s.url(name), pg.Options{})
		fatal.If(t, err)
		_, err = pool.ExecContext(t.Context(), `INSERT INTO companies VALUES (1, 'acme', 'Acme')`)
		if pool.Close(); err != nil {
			t.Error(err)
		}
		s.drop(name)
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	if err := one.close(); err != nil {
		t.Error(err)
	}
	for late := join(db.Migrate); late != nil; late = join(db.Migrate) {
		if err := late.close(); err != nil { // stop has not withdrawn the address yet
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
	}
	var answer int
	if err := two.admin.GetContext(t.Context(), &answer, `SELECT 1`); err != nil {
		t.Errorf("the server has ended before its users: %v", err)
	}
	if err := two.close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A template of other migrations than those of the checkout is not used.
func TestAServerWithOtherMigrationsIsNotJoined(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	m, err := meet()
	fatal.If(t, err)
	running, err := lock(m.runner, syscall.LOCK_EX)
	fatal.If(t, err)
	defer running.Close()
	for digest, joins := range map[string]bool{"other": false, "": true} {
		if digest == "" {
			if digest, err = m.digest(); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprintf(`{"Address": "postgres://localhost/x", "Migrations": %q}`, digest)
		fatal.If(t, os.WriteFile(m.runner, []byte(text), 0o600))
		if found, err := m.find(); err != nil || (found != nil) != joins {
			t.Errorf("%v, %v: joins %v", found, err, joins)
		}
	}
}
