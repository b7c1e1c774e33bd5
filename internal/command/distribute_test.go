package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// What Citus does with a database is tested in test/scaleout.
func TestADatabaseWithoutCitusIsNotDistributed(t *testing.T) {
	dbtest.WithoutCitus(t, "a database without Citus")
	t.Parallel()
	c := newConsole(t)
	if err := (command.MigrateStatus{}).Run(c.Context(), c.env); err != nil || !strings.HasSuffix(c.stdout.String(), "\ndistribution: none, the database has no extension citus\n") {
		t.Errorf("the status is %s, %v", c.stdout.String(), err)
	}
	err := (command.MigrateDistribute{}).Run(c.Context(), c.env)
	if err == nil || !strings.Contains(err.Error(), "has no extension citus: install Citus on every node") {
		t.Errorf("the error is %v", err)
	}
}

// Distributing that ends half way leaves no foreign keys.
func TestADatabaseThatIsDistributedInPartIsRefused(t *testing.T) {
	t.Parallel()
	serve := func(c *console) error {
		ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
		defer cancel()
		return (&command.Serve{Addr: "127.0.0.1:0", NoRuntimeTuning: true}).Run(ctx, c.env)
	}
	for what, attempt := range map[string]func(*console) error{
		"serve":      serve,
		"a command":  func(c *console) error { return c.load(c.file("acme.ndjson", "")) },
		"migrate up": func(c *console) error { return command.MigrateUp{}.Run(c.Context(), c.env) },
		"serve --no-migrate": func(c *console) error {
			c.env.NoMigrate = true
			return serve(c)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
			fatal.If(t, err)
			pool.MustExec(`
CREATE TABLE simgraph_distribution_keys (of_table text, name text, definition text);
INSERT INTO simgraph_distribution_keys VALUES ('users', 'users_company_id_fkey', 'FOREIGN KEY')`)
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
			if err := attempt(c); err == nil || !strings.Contains(err.Error(), "1 foreign keys are missing: run simgraph migrate distribute again") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
