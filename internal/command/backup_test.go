package command_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/db/restoring"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func TestABackupIsRestoredAndVerified(t *testing.T) {
	dbtest.WithoutCitus(t, "a backup of one server")
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 20, Days: 2, Seed: 1, Company: "demo", Until: "2026-11-20T12:00:00Z"})
	file := filepath.Join(t.TempDir(), "simgraph.dump")
	fatal.If(t, (&command.Backup{File: file}).Run(t.Context(), c.env))
	before := c.export("demo")
	if err := (&command.Restore{File: file}).Run(t.Context(), c.env); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restored over a company: %v", err)
	}

	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	_ = pool.Close()
	other := c.file("other.dump", "PGDMP is not all")
	if err := (&command.Restore{File: other}).Run(t.Context(), c.env); err == nil {
		t.Error("what is no backup was restored")
	}
	c.stdout.Reset()
	fatal.If(t, (&command.Restore{File: file}).Run(t.Context(), c.env))
	if got := c.stdout.String(); got != "demo: restored, the audit log is one chain and all totals agree with the ledger\n" {
		t.Error(got)
	}
	if after := c.export("demo"); after != before {
		t.Errorf("the company differs: %d bytes, %d before", len(after), len(before))
	}
}

func TestAnInterruptedRestoreSaysWhatIsNotVerifiedAndGoesOn(t *testing.T) {
	dbtest.WithoutCitus(t, "a backup of one server")
	t.Parallel()
	c := newConsole(t)
	for _, company := range []string{"acme", "zeta"} {
		c.demo(command.Demo{Subscribers: 2, Days: 1, Seed: 1, Company: company, Until: "2026-11-20T12:00:00Z"})
	}
	file := filepath.Join(t.TempDir(), "simgraph.dump")
	fatal.If(t, (&command.Backup{File: file}).Run(t.Context(), c.env))
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	defer pool.Close()
	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	restore := func(ctx context.Context, file string) (string, error) {
		c.stdout.Reset()
		err := (&command.Restore{File: file}).Run(ctx, c.env)
		return c.stdout.String(), err
	}

	// Interrupted before anything was restored: the next one begins anew.
	fatal.If(t, restoring.Begin(t.Context(), pool, file, time.Now()))
	// Interrupted once acme was verified.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.env.Stdout = writerFunc(func(b []byte) (int, error) {
		if strings.HasPrefix(string(b), "acme: restored") {
			cancel()
		}
		return c.stdout.Write(b)
	})
	out, err := restore(ctx, file)
	if err == nil || !strings.Contains(err.Error(), "restored, and not verified yet: zeta; simgraph restore "+file+" goes on: interrupted") {
		t.Errorf("interrupted: %v", err)
	}
	if !strings.Contains(out, "a restore of "+file+" was interrupted") || !strings.Contains(out, "has left nothing") {
		t.Errorf("it printed %s", out)
	}
	other := c.file("other.dump", "")
	if _, err := restore(t.Context(), other); err == nil || !strings.Contains(err.Error(), file+" was restored into it, and not verified yet: zeta") {
		t.Errorf("another file: %v", err)
	}
	out, err = restore(t.Context(), file)
	if err != nil || strings.Contains(out, "acme: restored") || !strings.Contains(out, "zeta: restored, the audit log is one chain") {
		t.Errorf("going on: %v, %s", err, out)
	}
	if was, err := restoring.Find(t.Context(), pool); err != nil || was != nil {
		t.Errorf("%+v is left, %v", was, err)
	}
	if _, err := restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restored twice: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestPsqlRunsOnTheDatabaseWithoutShowingItsPassword(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	err := (&command.Psql{Args: []string{"-At", "-c", `SELECT current_database()`, "-c", `\! tr '\0' ' ' < /proc/$PPID/cmdline`}}).Run(t.Context(), c.env)
	if err != nil {
		t.Fatal(err, c.stderr.String())
	}
	name, line, _ := strings.Cut(c.stdout.String(), "\n")
	if !strings.Contains(c.env.DatabaseURL, name) || name == "" {
		t.Errorf("on the database %q", name)
	}
	at, err := url.Parse(c.env.DatabaseURL)
	fatal.If(t, err)
	password, _ := at.User.Password()
	if _, err := os.Stat("/proc/self/cmdline"); err == nil && (!strings.Contains(line, "psql") || password == "" || strings.Contains(line, password)) {
		t.Errorf("the command line is %q", line)
	}
}

func TestAllCompaniesAreListedAndExported(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, company := range []string{"acme", "zeta"} {
		c.demo(command.Demo{Subscribers: 2, Days: 0, Seed: 1, Company: company, Until: "2026-11-20T12:00:00Z"})
		fatal.If(t, (&command.KeyCreate{User: "admin@" + company + ".example", Scope: []string{"VIEW_SUBSCRIBER", "Record Usage"}, TTL: 1e12}).Run(t.Context(), c.env))
	}
	want := c.export("acme") + c.export("zeta")
	c.stdout.Reset()
	if err := (&command.Export{All: true, Output: "-"}).Run(t.Context(), c.env); err != nil || c.stdout.String() != want {
		t.Errorf("%v, %d bytes, want %d", err, c.stdout.Len(), len(want))
	}
	c.stdout.Reset()
	if err := (command.CompanyList{}).Run(t.Context(), c.env); err != nil || strings.Count(c.stdout.String(), "\n") != 3 ||
		!strings.Contains(c.stdout.String(), "\nacme ") || !strings.Contains(c.stdout.String(), "\nzeta ") {
		t.Errorf("%v\n%s", err, &c.stdout)
	}
	for company, keys := range map[string]int{"": 2, "acme": 1} {
		c.stdout.Reset()
		if err := (&command.KeyList{Company: company}).Run(t.Context(), c.env); err != nil || strings.Count(c.stdout.String(), "RECORD_USAGE VIEW_SUBSCRIBER") != keys {
			t.Errorf("%q: %v\n%s", company, err, &c.stdout)
		}
	}
}
