package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/domain"
)

// Backup writes the whole database into a file.
type Backup struct {
	File string `arg:"" placeholder:"FILE" help:"The file to write; - is standard output."`
}

// Help shows examples.
func (Backup) Help() string {
	return `Examples:

	simgraph backup simgraph.dump
	simgraph backup - | age -r age1… > simgraph.dump.age

The file holds the database as it is at one moment, all companies with their
access keys, mails and audit logs, in the custom format of pg_dump. It may be
taken while the server runs, and simgraph restore reads it.`
}

// Run writes the file by pg_dump. The schema stays as it is.
func (b *Backup) Run(ctx context.Context, env *Env) error {
	return withClient(ctx, env, "backup", func(c *client, _ *sqlx.DB) error {
		return writeTo(env, b.File, func(out io.Writer) error {
			return c.run(ctx, out, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--dbname="+c.url)
		})
	})
}

// Restore reads a file that Backup wrote.
type Restore struct {
	File string `arg:"" type:"existingfile" placeholder:"FILE" help:"A file that simgraph backup or pg_dump -Fc wrote."`
}

// Help shows examples.
func (Restore) Help() string {
	return `Examples:

	simgraph restore simgraph.dump --data-dir /var/lib/simgraph-restored
	simgraph restore simgraph.dump --database-url postgres://simgraph@db.example/restored

The database must be empty. The file is restored as a whole or not at all,
brought up to the schema of this version unless --no-migrate is given, and then
verified: the audit log of each company must be one chain, and all totals must
agree with the usage ledger.`
}

// Run restores and verifies the file.
func (r *Restore) Run(ctx context.Context, env *Env) error {
	err := withClient(ctx, env, "restore", func(c *client, pool *sqlx.DB) error {
		if err := mustBeEmpty(ctx, pool); err != nil {
			return err
		}
		if err := c.check(ctx, r.File); err != nil {
			return err
		}
		return c.run(ctx, io.Discard, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--dbname="+c.url, r.File)
	})
	if err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "restore")
	if err != nil {
		return fmt.Errorf("restored, but: %w", err)
	}
	defer done()
	return verifyRestored(ctx, env, pool)
}

func mustBeEmpty(ctx context.Context, pool *sqlx.DB) error {
	var tables int
	const count = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`
	if err := pool.GetContext(ctx, &tables, count); err != nil {
		return err
	}
	if tables > 0 {
		return fmt.Errorf("the database is not empty (it has %d tables): restore into another one", tables)
	}
	return nil
}

// verifyRestored checks the chain of each audit log, and the totals.
func verifyRestored(ctx context.Context, env *Env, pool *sqlx.DB) error {
	all, err := companies.New(pool).List(ctx)
	if err != nil {
		return err
	}
	log, usage := audit.NewLog(pool), newUsage(pool)
	for _, company := range all {
		scope := domain.Whole(company.CompanyID).By(actor("restore"))
		if _, err := log.Verify(ctx, scope); err != nil {
			return fmt.Errorf("restored, but the audit log of %s: %w", company.ExternalID, err)
		}
		_, n, err := usage.Rebuild(ctx, scope)
		if err != nil {
			return fmt.Errorf("restored, but the totals of %s: %w", company.ExternalID, err)
		}
		if n > 0 {
			return fmt.Errorf("restored, but %d totals of %s differed from the ledger and were set right", n, company.ExternalID)
		}
		env.printf("%s: restored, the audit log is one chain and all totals agree with the ledger\n", company.ExternalID)
	}
	return nil
}

// check refuses a file that is no backup of simgraph.
func (c *client) check(ctx context.Context, file string) error {
	var list bytes.Buffer
	if err := c.run(ctx, &list, "pg_restore", "--list", file); err != nil {
		return err
	}
	if !strings.Contains(list.String(), " TABLE public goose_db_version ") {
		return errors.New("the file is no backup of simgraph: it lacks the table of migrations")
	}
	return nil
}

// run runs a client program of PostgreSQL; its error has what the program reports.
func (c *client) run(ctx context.Context, out io.Writer, program string, args ...string) error {
	cmd, err := c.command(ctx, program, args...)
	if err != nil {
		return err
	}
	var reported bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &reported
	if err := cmd.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); ended && reported.Len() > 0 {
			return errors.New(strings.TrimSpace(reported.String()))
		}
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// Psql opens PostgreSQL's shell on the database.
type Psql struct {
	Args []string `arg:"" optional:"" passthrough:"" placeholder:"ARGUMENT" help:"Arguments of psql, such as -c 'SELECT 1'."`
}

// Help shows examples.
func (Psql) Help() string {
	return `Examples:

	simgraph psql
	simgraph psql -c 'SELECT external_id, name FROM companies'

The flags of simgraph stand before the arguments of psql.`
}

// Run runs psql on the terminal. The schema stays as it is.
func (p *Psql) Run(ctx context.Context, env *Env) error {
	return withClient(ctx, env, "psql", func(c *client, _ *sqlx.DB) error {
		cmd, err := c.command(ctx, "psql", append([]string{"--dbname=" + c.url}, p.Args...)...)
		if err != nil {
			return err
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
		signal.Ignore(os.Interrupt) // psql gets it too: it ends a statement, not the shell
		return cmd.Run()
	})
}
