package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"simgraph/internal/durable"
)

// Asks is how a command asks before it deletes.
type Asks string

// The ways in which commands ask, from the strictest on.
const (
	// AsksYes is for what cannot be made again.
	AsksYes Asks = "lists it, and does nothing without `--yes`"
	// AsksForce is for files that would be replaced.
	AsksForce Asks = "refuses while the file is there, unless with `--force`"
	// AsksNothing is for what can be made again, or is named by the caller one by one.
	AsksNothing Asks = "does it, and prints what it did"
	// AsksNever is for what nobody can use any more, or belongs to the work of the command.
	AsksNever Asks = "does it"
	// Refuses is for what a command never replaces.
	Refuses Asks = "refuses, whatever the flags"
	// AsksEarlier is for what a server does by itself.
	AsksEarlier Asks = "by itself; announced a day before where [the table above](#what-is-deleted) says so"
	// AsksCallers is for what people and programs do by the API.
	AsksCallers Asks = "one by one, as the API documents; operations on many have a dry run"
	// AsksPostgres is for what another program does.
	AsksPostgres Asks = "as `psql` does: it asks nothing"
)

// Deletion is what a command can delete or overwrite, for the table in
// docs/reliability.md.
type Deletion struct {
	// What names the flags that it depends on.
	What string
	Asks Asks
	// Back is how to get it back.
	Back string
}

// Deleting is a command that can delete or overwrite something.
type Deleting interface {
	Deletes() []Deletion
}

// fileDeletion is that of a command that writes a file.
var fileDeletion = Deletion{"the file that is there, with `--force`", AsksForce, "none; without `--force` nothing is lost"}

// fromLedger is how totals come back.
const fromLedger = "they follow from the ledger: `simgraph rebuild`"

// Deletes implements Deleting.
func (Serve) Deletes() []Deletion {
	return []Deletion{
		{"what is older than the retentions of the database", AsksEarlier, "see there"},
		{"what a `--retention`, `--audit-retention`, `--mail-retention` or `--webhook-retention` would delete that the database does not have", Refuses, "nothing is lost"},
		{"detached months, sooner by a shorter `--drop-delay`", AsksEarlier, "`simgraph ledger restore-month` until then; a backup"},
		{"what callers of the API delete, replace or end", AsksCallers, "the audit log has what it was; `undoOperation`"},
	}
}

// Deletes implements Deleting.
func (Import) Deletes() []Deletion {
	return []Deletion{
		{"names and settings that lines name, and the groups of a user that its line leaves out", AsksNothing, "the export from before"},
		{"values, tags and SIM states of subscribers, by a CSV file of changes; none with `--dry-run`", AsksNothing, "`undoOperation` within seven days"},
		{"totals of subscribers that move to other groups", AsksNever, fromLedger},
	}
}

// Deletes implements Deleting.
func (Move) Deletes() []Deletion {
	return []Deletion{{"names and fields of groups, tariffs and subscribers that the other server has, too; none with `--verify-only`", AsksNothing, "the export from before"}}
}

// Deletes implements Deleting.
func (Demo) Deletes() []Deletion {
	return []Deletion{
		fileDeletion,
		{"names and settings of the company `--company`, without `--output`", AsksNothing, "the export from before"},
	}
}

// Deletes implements Deleting.
func (Export) Deletes() []Deletion { return []Deletion{fileDeletion} }

// Deletes implements Deleting.
func (AuditExport) Deletes() []Deletion { return []Deletion{fileDeletion} }

// Deletes implements Deleting.
func (Backup) Deletes() []Deletion { return []Deletion{fileDeletion} }

// Deletes implements Deleting.
func (Restore) Deletes() []Deletion {
	return []Deletion{
		{"a database that is not empty", Refuses, "nothing is lost"},
		{"totals that differ from the restored ledger, and what is noted of the restore", AsksNothing, fromLedger},
	}
}

// Deletes implements Deleting.
func (Psql) Deletes() []Deletion {
	return []Deletion{{"what its statements delete", AsksPostgres, "a backup"}}
}

// Deletes implements Deleting.
func (CompanyCreate) Deletes() []Deletion {
	return []Deletion{{"a company of that identifier", Refuses, "nothing is lost"}}
}

// Deletes implements Deleting.
func (CompanyEdit) Deletes() []Deletion {
	return []Deletion{{"the name and settings that are given, and the totals of billing periods, which are derived again", AsksNothing, "set the former ones: the audit log has them"}}
}

// Deletes implements Deleting.
func (UserCreate) Deletes() []Deletion {
	return []Deletion{{"a user of that address in the company", Refuses, "nothing is lost"}}
}

// Deletes implements Deleting.
func (OperatorSet) Deletes() []Deletion {
	return []Deletion{{"the name of the operator", AsksNothing, "set the former one"}}
}

// Deletes implements Deleting.
func (MigrateUp) Deletes() []Deletion {
	return []Deletion{{"what the new schema keeps otherwise, such as names without characters that are refused now: the changelog says what; `serve` and all commands do the same, unless with `--no-migrate`", AsksNothing, "a backup from before"}}
}

// Deletes implements Deleting.
func (MigrateDown) Deletes() []Deletion {
	return []Deletion{{"tables, columns and rows that only the undone migrations hold, all with `--to 0`", AsksYes, "a backup, which it names"}}
}

// Deletes implements Deleting.
func (MigrateDistribute) Deletes() []Deletion {
	return []Deletion{{"foreign keys, which it puts back at the end", AsksNothing, "run it again"}}
}

// Deletes implements Deleting.
func (KeyRevoke) Deletes() []Deletion {
	return []Deletion{{"one access key and its tokens", AsksNothing, "make another: `simgraph key create`"}}
}

// Deletes implements Deleting.
func (DocumentsRemove) Deletes() []Deletion {
	return []Deletion{{"trusted documents, which programs run by their ids", AsksNothing, "add the manifest again: `simgraph documents add`"}}
}

// Deletes implements Deleting.
func (MCP) Deletes() []Deletion {
	return []Deletion{{"nicknames, tags and silences of the server that an agent changes by a tool", AsksCallers, "the audit log has what it was"}}
}

// Deletes implements Deleting.
func (Token) Deletes() []Deletion {
	return []Deletion{{"tokens of the company that expired a day ago", AsksNever, "nobody can use them"}}
}

// Deletes implements Deleting.
func (LoginLink) Deletes() []Deletion {
	return []Deletion{{"links that expired, and the oldest of more than 10 that the user has", AsksNever, "make another"}}
}

// Deletes implements Deleting.
func (SessionEnd) Deletes() []Deletion {
	return []Deletion{
		{"sessions and links of a user or a company, or one session", AsksNothing, "sign in again"},
		{"sessions and links of everybody, with `--all` alone", AsksYes, "sign in again"},
	}
}

// Deletes implements Deleting.
func (RADIUSClientRemove) Deletes() []Deletion {
	return []Deletion{{"one client with its secret", AsksNothing, "add it again with its secret; what it reported stays"}}
}

// Deletes implements Deleting.
func (RADIUSClientAdd) Deletes() []Deletion {
	return []Deletion{{"a key in `--secrets-key-file`", Refuses, "nothing is lost: it is made when there is none"}}
}

// Deletes implements Deleting.
func (SQLRoleDrop) Deletes() []Deletion {
	return []Deletion{{"one SQL role with its sessions", AsksNothing, "make it again, with another password: `simgraph sql-role create`"}}
}

// Deletes implements Deleting.
func (LedgerRetention) Deletes() []Deletion {
	return []Deletion{{"months of usage records, by a shorter retention; announced, and detached a day later", AsksYes, "the former retention, or `simgraph ledger restore-month`, until they are dropped"}}
}

// Deletes implements Deleting.
func (LedgerRestoreMonth) Deletes() []Deletion {
	return []Deletion{{"the note that the month is to go", AsksNothing, "a server announces it again"}}
}

// Deletes implements Deleting.
func (RetentionSet) Deletes() []Deletion {
	return []Deletion{{"what a shorter retention does not cover; announced, and a day later", AsksYes, "the former retention within that day; then a backup"}}
}

// Deletes implements Deleting.
func (Rebuild) Deletes() []Deletion {
	return []Deletion{{"totals that differ from the ledger, and how far an earlier run came", AsksNothing, fromLedger}}
}

// Consent is the flag of commands that delete what cannot be made again.
type Consent struct {
	Yes bool `help:"Do it, though what is listed without it is deleted."`
}

// agreed returns an error unless --yes was given.
func (c Consent) agreed(undone, consequence string) error {
	if c.Yes {
		return nil
	}
	return fmt.Errorf("nothing was %s: repeat the command with --yes to %s", undone, consequence)
}

// Overwriting is the flag of commands that write a file.
type Overwriting struct {
	Force bool `help:"Replace a file that is there."`
}

// check returns an error where a file would be replaced without --force. Call it
// before work that takes long.
func (o Overwriting) check(name string) error {
	if name == "-" || o.Force {
		return nil
	}
	if info, err := os.Lstat(name); err == nil && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink && regular(name)) {
		return fileExists(name)
	}
	return nil
}

// regular reports whether a link leads to a regular file, or to nothing.
func regular(name string) bool {
	info, err := os.Stat(name)
	return err != nil || info.Mode().IsRegular()
}

func fileExists(name string) error {
	return fmt.Errorf("%s is there already, and nothing was written: name another file, or repeat the command with --force to replace it", name)
}

// writeTo writes a file, or standard output for "-". A regular file appears when
// it is whole and on disk, readable by its owner only: it is about people and their
// devices. Without --force it replaces none, also not one that appears meanwhile.
func (o Overwriting) writeTo(env *Env, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(env.Stdout)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		pipe, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(pipe), pipe.Close())
	}
	if o.Force {
		return durable.Replace(name, write)
	}
	if err := o.check(name); err != nil {
		return err
	}
	err := durable.Create(name, write)
	if errors.Is(err, fs.ErrExist) {
		return fileExists(name)
	}
	return err
}
