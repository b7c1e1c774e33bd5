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
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/embedded"
	"simgraph/db/pg"
	"simgraph/db/restoring"
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
	return withClient(ctx, env, "backup", func(c *client, pool *sqlx.DB) error {
		begun := time.Now()
		err := writeTo(env, b.File, func(out io.Writer) error {
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
		return embedded.RunClient(cmd)
	})
}
