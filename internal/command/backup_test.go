package command_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/command"
)

func TestABackupIsRestoredAndVerified(t *testing.T) {
	dbtest.WithoutCitus(t, "a backup of one server")
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 20, Days: 2, Seed: 1, Company: "demo", Until: "2026-11-20T12:00:00Z"})
	file := filepath.Join(t.TempDir(), "simgraph.dump")
	if err := (&command.Backup{File: file}).Run(t.Context(), c.env); err != nil {
		t.Fatal(err)
	}
	before := c.export("demo")
	if err := (&command.Restore{File: file}).Run(t.Context(), c.env); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restored over a company: %v", err)
	}

	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	_ = pool.Close()
	other := c.file("other.dump", "PGDMP is not all")
	if err := (&command.Restore{File: other}).Run(t.Context(), c.env); err == nil {
		t.Error("what is no backup was restored")
	}
	c.stdout.Reset()
	if err := (&command.Restore{File: file}).Run(t.Context(), c.env); err != nil {
		t.Fatal(err)
	}
	if got := c.stdout.String(); got != "demo: restored, the audit log is one chain and all totals agree with the ledger\n" {
		t.Error(got)
	}
	if after := c.export("demo"); after != before {
		t.Errorf("the company differs: %d bytes, %d before", len(after), len(before))
	}
}

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
	if err != nil {
		t.Fatal(err)
	}
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
		if err := (&command.KeyCreate{User: "admin@" + company + ".example", Scope: []string{"VIEW_SUBSCRIBER", "Record Usage"}, TTL: 1e12}).Run(t.Context(), c.env); err != nil {
			t.Fatal(err)
		}
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
