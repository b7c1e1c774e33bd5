package command_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/live"
	"simgraph/db/pg"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// yes agrees to what a command deletes.
var yes = command.Consent{Yes: true}

func TestMigrateDownListsWhatIsLostAndUndoesNothingUnasked(t *testing.T) {
	dbtest.WithoutCitus(t, "a backup of one server")
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 5, Days: 1, Seed: 1, Company: "demo", Until: "2026-11-20T12:00:00Z"})
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	defer pool.Close()
	pool.MustExec(`UPDATE subscribers SET has_feed = physical_id = (SELECT min(physical_id) FROM subscribers)`)
	to := int64(5)
	refused := func(m command.MigrateDown, reason string) string {
		t.Helper()
		c.stdout.Reset()
		if err := m.Run(t.Context(), c.env); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%+v: %v", m, err)
		}
		fatal.If(t, db.Current(t.Context(), pool))
		return c.stdout.String()
	}
	listed := refused(command.MigrateDown{To: &to}, "--yes")
	for _, want := range []string{"\n  00006_address_of_day.sql\n", "\n  table sessions: ", "\n  column has_feed of subscribers: set in 1 rows\n", "\nNo backup by simgraph is known"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%s lacks %s", listed, want)
		}
	}
	file := filepath.Join(t.TempDir(), "simgraph.dump")
	fatal.If(t, (&command.Backup{File: file}).Run(t.Context(), c.env))
	if listed = refused(command.MigrateDown{}, "--yes"); !strings.Contains(listed, "simgraph restore "+file+"\n") {
		t.Errorf("%s does not name the backup", listed)
	}
	wrong := to + 6
	refused(command.MigrateDown{To: &wrong, Consent: yes}, "there is no migration 11")
	server, err := pg.Open(t.Context(), c.env.DatabaseURL+"&application_name="+live.ServerSession, pg.Options{})
	fatal.If(t, err)
	refused(command.MigrateDown{To: &to, Consent: yes}, "a server uses the database")
	_ = server.Close()
	for {
		served, err := live.Served(t.Context(), pool)
		fatal.If(t, err)
		if !served {
			break
		}
	}
	fatal.If(t, (command.MigrateDown{To: &to, Consent: yes}).Run(t.Context(), c.env))
	if db.Current(t.Context(), pool) == nil {
		t.Error("nothing was undone")
	}
}

func TestStatusNamesMigrationsOfANewerVersion(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	pool.MustExec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`)
	_ = pool.Close()
	if err := (command.MigrateStatus{}).Run(t.Context(), c.env); err != nil || !strings.Contains(c.stdout.String(), "\n99999 ") {
		t.Error(fmt.Sprint(err), c.stdout.String())
	}
}
