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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/embedded"
	"simgraph/db/pg"
	"simgraph/db/restoring"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Backup writes the whole database into a file.
type Backup struct {
	File string `arg:"" placeholder:"FILE" help:"The file to write; - is standard output."`
	Overwriting
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
	if err := b.check(b.File); err != nil {
		return err
	}
	return withClient(ctx, env, "backup", func(c *client, pool *sqlx.DB) error {
		begun := time.Now()
		err := b.writeTo(env, b.File, func(out io.Writer) error {
			return c.run(ctx, out, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--exclude-schema="+restoring.Schema, "--dbname="+c.url)
		})
		if err == nil {
			env.warn("note the backup in the audit log", b.note(ctx, pool, begun))
		}
		return err
	})
}

// The fields of the entry about a backup.
const (
	backupSubject = "Backup"
	backupFile    = "file"
	backupOf      = "of"
)

// note records the backup, so that what deletes can name it. A database without an
// audit log, or one that is read-only such as a standby, does without.
func (b *Backup) note(ctx context.Context, pool *sqlx.DB, of time.Time) error {
	file := "standard output"
	if b.File != "-" {
		var err error
		if file, err = filepath.Abs(b.File); err != nil {
			return err
		}
	}
	if readOnly, err := pg.ReadOnly(ctx, pool); err != nil || readOnly != "" {
		return err
	}
	if there, err := db.HasAuditLog(ctx, pool); err != nil || !there {
		return err
	}
	return audit.NewLog(pool).Note(ctx, domain.Whole(domain.Installation).By(actor("backup")), domain.AuditEntry{
		Action: domain.AuditBackup, SubjectType: backupSubject,
		Changes: []domain.AuditChange{domain.Became(backupFile, file), domain.Became(backupOf, of.UTC().Format(time.RFC3339))},
	})
}

// printBackup prints which backup has what is about to be deleted.
func printBackup(ctx context.Context, env *Env, pool *sqlx.DB) error {
	there, err := db.HasAuditLog(ctx, pool)
	if err != nil {
		return err
	}
	var entry *domain.AuditEntry
	if there {
		if entry, err = audit.NewLog(pool).Newest(ctx, domain.Whole(domain.Installation), backupSubject); err != nil {
			return err
		}
	}
	if entry == nil {
		env.printf("No backup by simgraph is known that would bring it back: simgraph backup FILE makes one.\n")
		return nil
	}
	values := map[string]string{}
	for _, change := range entry.Changes {
		if change.After != nil {
			values[change.Field] = *change.After
		}
	}
	env.printf("The newest known backup that brings it back, into another database, is that of %s: simgraph restore %s\n", values[backupOf], values[backupFile])
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
	if err := embedded.RunClient(cmd); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); ended && reported.Len() > 0 {
			return errors.New(strings.TrimSpace(reported.String()))
		}
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// Psql opens PostgreSQL's shell on the database.
type Psql struct {
	Args []string `arg:"" optional:"" placeholder:"ARGUMENT" help:"Arguments of psql, such as -c 'SELECT 1'."`
}

// Help shows examples.
func (Psql) Help() string {
	return `Examples:

	simgraph psql
	simgraph psql -c 'SELECT external_id, name FROM companies'
	simgraph --data-dir /var/lib/simgraph psql -At --file report.sql

What follows psql is for psql as it is: the flags of simgraph stand before it. The
exit status is that of psql.`
}

// Ended is the end of a program that reported by itself what was wrong.
type Ended struct{ Status int }

func (e *Ended) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// Run runs psql on the terminal. The schema stays as it is. It returns an Ended where
// psql did not end with 0.
func (p *Psql) Run(ctx context.Context, env *Env) error {
	return withClient(ctx, env, "psql", func(c *client, _ *sqlx.DB) error {
		cmd, err := c.command(ctx, "psql", append([]string{"--dbname=" + c.url}, p.Args...)...)
		if err != nil {
			return err
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
		signal.Ignore(os.Interrupt) // psql gets it too: it ends a statement, not the shell
		err = embedded.RunClient(cmd)
		if exit, is := errors.AsType[*exec.ExitError](err); is && exit.Exited() {
			return &Ended{exit.ExitCode()}
		}
		return err
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
agree with the usage ledger. A restore that was interrupted goes on where it was
when the command is repeated.`
}

// Run restores and verifies the file, or goes on with that.
func (r *Restore) Run(ctx context.Context, env *Env) error {
	file, err := filepath.Abs(r.File)
	if err != nil {
		return err
	}
	err = withClient(ctx, env, "restore", func(c *client, pool *sqlx.DB) error { return r.restore(ctx, env, c, pool, file) })
	if err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "restore")
	if err != nil {
		return because(ctx, "restored, but not verified yet", err)
	}
	defer done()
	return verifyRestored(ctx, env, pool)
}

// restore fills an empty database, unless an interrupted restore of the file has.
func (r *Restore) restore(ctx context.Context, env *Env, c *client, pool *sqlx.DB, file string) error {
	was, err := restoring.Find(ctx, pool)
	if err != nil {
		return err
	}
	if was != nil && was.Filled {
		if was.File != file {
			return fmt.Errorf("the database is not empty: %s was restored into it, %s; repeat simgraph restore %s to verify it, or restore into another database",
				was.File, r.missing(ctx, pool, was), was.File)
		}
		env.printf("the file was restored before, at %s; it is being verified\n", moment(was.BegunAt))
		return nil
	}
	if err := mustBeEmpty(ctx, pool); err != nil {
		return err
	}
	if err := c.check(ctx, r.File); err != nil {
		return err
	}
	if was != nil {
		env.printf("a restore of %s was interrupted at %s and has left nothing: it begins anew\n", was.File, moment(was.BegunAt))
	}
	if err := restoring.Begin(ctx, pool, file, time.Now()); err != nil {
		return err
	}
	err = c.run(ctx, io.Discard, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges",
		"--exclude-schema="+restoring.Schema, "--dbname="+c.url, r.File)
	if err != nil {
		return because(ctx, "nothing was restored", errors.Join(err, restoring.End(context.WithoutCancel(ctx), pool)))
	}
	return usage.ForgetRebuilds(context.WithoutCancel(ctx), pool)
}

// missing says which companies are not verified yet.
func (r *Restore) missing(ctx context.Context, pool *sqlx.DB, was *restoring.Restore) string {
	all, err := companies.New(pool).List(ctx)
	if err != nil { // the schema may be of another version
		return "and is not verified yet"
	}
	return notVerified(all, was.Verified)
}

func notVerified(all []*domain.Company, verified []string) string {
	var left []string
	for _, company := range all {
		if !slices.Contains(verified, company.ExternalID) {
			left = append(left, company.ExternalID)
		}
	}
	return "and not verified yet: " + strings.Join(left, ", ")
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
	return db.Fit(ctx, pool)
}

// verifyRestored checks the chain of each audit log, and the totals. What it has
// verified is stored, so that it can be interrupted.
func verifyRestored(ctx context.Context, env *Env, pool *sqlx.DB) error {
	was, err := restoring.Find(ctx, pool)
	if err != nil {
		return err
	}
	if was == nil {
		return errors.New("restored, but not verified: another simgraph restore has ended meanwhile")
	}
	all, err := companies.New(pool).List(ctx)
	if err != nil {
		return because(ctx, "restored, but not verified yet", err)
	}
	log, store := audit.NewLog(pool), newUsage(pool, env.Log)
	for _, company := range all {
		if slices.Contains(was.Verified, company.ExternalID) {
			continue
		}
		if err := verifyCompany(ctx, env, log, store, company); err != nil {
			return because(ctx, fmt.Sprintf("restored, %s; simgraph restore %s goes on", notVerified(all, was.Verified), was.File), err)
		}
		if err := restoring.NoteVerified(context.WithoutCancel(ctx), pool, company.ExternalID); err != nil {
			return err
		}
		was.Verified = append(was.Verified, company.ExternalID)
		env.printf("%s: restored, the audit log is one chain and all totals agree with the ledger\n", company.ExternalID)
	}
	return restoring.End(ctx, pool)
}

// because adds to an error what has become of the restore, also to that of an
// interruption, of which nothing else would be said.
func because(ctx context.Context, state string, err error) error {
	if ctx.Err() != nil {
		return errors.New(state + ": interrupted")
	}
	return fmt.Errorf("%s: %w", state, err)
}

func verifyCompany(ctx context.Context, env *Env, log *audit.Log, store *usage.Store, company *domain.Company) error {
	scope := domain.Whole(company.CompanyID).By(actor("restore"))
	if _, err := log.Verify(ctx, scope); err != nil {
		return fmt.Errorf("the audit log of %s: %w", company.ExternalID, err)
	}
	_, n, err := store.RebuildWith(ctx, scope, usage.RebuildOptions{Progress: env.checked(company)})
	if err != nil {
		return fmt.Errorf("the totals of %s: %w", company.ExternalID, err)
	}
	if n > 0 {
		return fmt.Errorf("%d totals of %s differed from the ledger and were set right", n, company.ExternalID)
	}
	return nil
}

// warnRestored reports that the database was restored and is not verified yet.
func warnRestored(ctx context.Context, env *Env, pool *sqlx.DB) error {
	was, err := restoring.Find(ctx, pool)
	if err == nil && was != nil {
		env.Log.Warn("the database was restored and is not verified to the end: simgraph restore with the same file goes on with that", "file", was.File, "verified", strings.Join(was.Verified, ", "))
	}
	return err
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
