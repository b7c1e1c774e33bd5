package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	operations "simgraph/db/bulk"
	"simgraph/db/companies"
	sources "simgraph/db/source"
	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/bulk"
	"simgraph/domain/source"
	"simgraph/internal/bundle"
	"simgraph/internal/changes"
	"simgraph/internal/intake"
	"simgraph/internal/profile"
	"simgraph/internal/stores"
)

// Import loads bundles, and runs operations by CSV files.
type Import struct {
	Files  []string `arg:"" name:"file" help:"Bundles to load, one after the other; - is standard input."`
	Format string   `enum:"auto,ndjson,csv" default:"auto" help:"How the files are written: ndjson, csv, or auto, which takes .csv for CSV and everything else for NDJSON."`
	Type   string   `enum:"auto,usage,changes" default:"auto" help:"What a CSV file holds: usage, changes of subscribers, or auto, which takes it for changes where --company, --map, --create or --reason is there."`

	Source string `placeholder:"NAME" help:"The source whose records the files hold: they are read by its profile. --company says whose it is where there are several companies."`

	Company     string   `group:"Changes of subscribers" placeholder:"ID" help:"The company whose subscribers change; may be left out when there is only one."`
	Map         []string `group:"Changes of subscribers" sep:"none" placeholder:"COLUMN=FIELD" help:"What a column of another name holds, or COLUMN= to leave it out; give it again for more."`
	ErrorPolicy string   `group:"Changes of subscribers" enum:"REJECT_EVERYTHING,REJECT_FAILED_ROWS,IGNORE_FAILED" default:"REJECT_EVERYTHING" help:"What becomes of the others when lines fail: REJECT_EVERYTHING, REJECT_FAILED_ROWS or IGNORE_FAILED."`
	Create      bool     `group:"Changes of subscribers" help:"Create the subscribers of lines that do not exist, where a line has what that needs."`
	Reason      string   `group:"Changes of subscribers" placeholder:"TEXT" help:"Why they change, in one line, for the operations and the audit log."`
	DryRun      bool     `group:"Changes of subscribers" help:"Print what would change and what fails, and change nothing."`
}

// holdsChanges reports whether the files are changes of subscribers.
func (i *Import) holdsChanges() bool {
	return i.Type == "changes" || i.Type == "auto" && (i.Company != "" || len(i.Map) > 0 || i.Create || i.Reason != "")
}

// Help shows examples.
func (Import) Help() string {
	return `Examples:

	simgraph import acme.ndjson usage-2026-11.csv
	simgraph export --company acme | simgraph import --database-url postgres://other.example/simgraph -
	simgraph import fleet.csv --company acme --map ICCID=physicalId --map Remarks= --dry-run
	simgraph import new-sims.csv --company acme --create
	simgraph import carrier-2026-11-20.csv.gz --source carrier

Lines create or replace what they name, so that the same import again changes
nothing. A line that cannot be stored is reported as FILE:LINE: reason; the rest
is stored all the same, and the exit status is 1. An import that was interrupted
can be repeated.`
}

// Run loads the files and prints what became of the lines of each type.
func (i *Import) Run(ctx context.Context, env *Env) error {
	for _, name := range i.Files {
		if _, err := size(name); err != nil {
			return err
		}
	}
	pool, done, err := env.Open(ctx, "import")
	if err != nil {
		return err
	}
	defer done()
	if i.Source != "" {
		return i.take(ctx, env, pool)
	}
	if i.holdsChanges() {
		return i.change(ctx, env, pool)
	}
	total := bundle.Counts{}
	for _, name := range i.Files {
		counts, err := i.load(ctx, env, pool, name)
		total.Add(counts)
		if err != nil {
			printCounts(env, total)
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	printCounts(env, total)
	if failed := total.Failed(); failed > 0 {
		return fmt.Errorf("%d lines were not imported", failed)
	}
	return nil
}

// input opens a file; "-" is the standard input.
func (e *Env) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.Stdin), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (i *Import) load(ctx context.Context, env *Env, pool *sqlx.DB, name string) (bundle.Counts, error) {
	bytes, err := size(name)
	if err != nil {
		return nil, err
	}
	in, err := env.input(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	progress := env.newProgress("import "+name, bytes)
	defer progress.clear()
	return bundles(pool, env.Log).Import(ctx, i.reader(name, in), bundle.Options{
		By:       actor("import"),
		Progress: progress.report,
		BadLine: func(bad *bundle.LineError) {
			progress.clear()
			_, _ = fmt.Fprintf(env.Stderr, "%s:%d: %v\n", name, bad.Line, bad.Err)
		},
	})
}

func (i *Import) reader(name string, in io.Reader) *bundle.Reader {
	if i.Format == "csv" || i.Format == "auto" && strings.HasSuffix(ascii.Lower(name), ".csv") {
		return bundle.NewCSVReader(in)
	}
	return bundle.NewReader(in)
}

// size returns the length of a file, 0 for what has none.
func size(name string) (int64, error) {
	if name == "-" {
		return 0, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		return 0, fmt.Errorf("%s is a directory", name)
	}
	return info.Size(), nil
}

// bundles are where bundles go.
func bundles(pool *sqlx.DB, log *slog.Logger) bundle.Stores {
	all := stores.Bundles(pool, time.Now)
	all.Profiles, all.Usage, all.Audit = newSources(pool), newUsage(pool, log), audit.NewLog(pool)
	return all
}

func printCounts(env *Env, counts bundle.Counts) {
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "type\tcreated\tupdated\tunchanged\tquarantined\tfailed\t")
	for _, t := range append(bundle.Types(), "") {
		c, counted := counts[t]
		if !counted {
			continue
		}
		if t == "" {
			t = "unreadable"
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", t, c.Created, c.Updated, c.Unchanged, c.Quarantined, c.Failed)
	}
	_ = table.Flush() // standard output is as good as it is
}

// change runs an operation for each file, after a dry run that prints the lines at fault.
func (i *Import) change(ctx context.Context, env *Env, pool *sqlx.DB) error {
	mapping, err := changes.ParseMapping(i.Map)
	if err != nil {
		return err
	}
	reason, err := domain.NewReason(i.Reason)
	if err != nil {
		return err
	}
	company, err := OneCompany(ctx, companies.New(pool), i.Company)
	if err != nil {
		return err
	}
	operator := &domain.Caller{Permissions: domain.AllPermissions(), Scope: domain.Whole(company.CompanyID).By(actor("import"))}
	for _, name := range i.Files {
		runner := &changes.Runner{Operations: operations.New(pool, operations.Options{Log: env.Log}), Caller: operator.WithReason(reason)}
		if err := i.changeBy(ctx, env, runner, name, mapping); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (i *Import) changeBy(ctx context.Context, env *Env, runner *changes.Runner, name string, mapping changes.Mapping) error {
	lines, done, err := linesOf(env, name, mapping)
	if err != nil {
		return err
	}
	defer done()
	progress := env.newProgress("import "+name, 0)
	defer progress.clear()
	runner.Progress = func(of *bulk.Operation) {
		progress.total = int64(of.Total)
		progress.report(of.Done, int64(of.Done))
	}
	start := bulk.Start{Lines: lines, ErrorPolicy: bulk.Policy(i.ErrorPolicy), Create: i.Create, ValidateOnly: true}
	dry, err := runner.Run(ctx, start)
	if err != nil {
		return err
	}
	progress.clear()
	err = runner.Failures(ctx, dry.OperationID, func(r *bulk.Result) {
		_, _ = fmt.Fprintf(env.Stderr, "%s:%d: %s\n", name, *r.Line, *r.Message)
	})
	ran := dry
	if err == nil && !i.DryRun && (dry.Failed == 0 || start.ErrorPolicy != bulk.RejectEverything) {
		start.ValidateOnly, start.Expect, start.Digest = false, &dry.Total, dry.Digest
		ran, err = runner.Run(ctx, start)
	}
	if err != nil {
		return err
	}
	progress.clear()
	created := ""
	if i.Create {
		created = fmt.Sprintf("%d %s, ", ran.Created, wordOf(ran, "created", "would be created"))
	}
	_, _ = fmt.Fprintf(env.Stdout, "operation %s: %d lines, %s%d %s, %d failed\n", ran.OperationID, ran.Total, created, ran.Changed, wordOf(ran, "changed", "would change"), ran.Failed)
	if ran.Failed > 0 {
		return fmt.Errorf("%d lines failed", ran.Failed)
	}
	return nil
}

// linesOf returns the rows of a file, which can be read again, and what closes it. Standard
// input and pipes are copied to a file without a name first.
func linesOf(env *Env, name string, mapping changes.Mapping) (lines iter.Seq2[bulk.Row, error], done func(), err error) {
	file, err := seekable(env, name)
	if err != nil {
		return nil, nil, err
	}
	lines = func(yield func(bulk.Row, error) bool) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(bulk.Row{}, err)
			return
		}
		changes.Read(file, mapping, time.Now())(yield)
	}
	return lines, func() { _ = file.Close() }, nil
}

func seekable(env *Env, name string) (*os.File, error) {
	if name == "-" {
		return copied(env.Stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if about, err := file.Stat(); err != nil || about.Mode().IsRegular() {
		return file, err
	}
	defer func() { _ = file.Close() }()
	return copied(file)
}

// copied is what in has, in a file of the folder for temporary ones.
func copied(in io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "simgraph-import-")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, in)
	if err := errors.Join(os.Remove(file.Name()), err); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func wordOf(of *bulk.Operation, ran, tried string) string {
	if of.IsDryRun {
		return tried
	}
	return ran
}

// newSources returns the store of sources for commands, which need no secrets of sources.
func newSources(pool *sqlx.DB) *sources.Store {
	return sources.New(pool, sources.Options{Check: profile.Check, Ready: profile.ReadyProfiles(), Now: time.Now})
}

// take books the records of the files of a source, and prints what became of them.
func (i *Import) take(ctx context.Context, env *Env, pool *sqlx.DB) error {
	company, err := OneCompany(ctx, companies.New(pool), i.Company)
	if err != nil {
		return err
	}
	kept := newSources(pool)
	of, err := kept.OpenNamed(ctx, domain.Whole(company.CompanyID), i.Source)
	if err != nil {
		return err
	}
	in := &intake.Intake{Sources: kept, Usage: newUsage(pool, env.Log), Now: time.Now}
	var total source.Counts
	for _, name := range i.Files {
		counts, err := takeFile(ctx, env, in, of, name)
		total.Add(counts)
		env.printf("%s: %d accepted, %d duplicates, %d waiting, %d rejected, %d skipped\n", name, counts.Accepted, counts.Duplicates, counts.Waiting, counts.Rejected, counts.Skipped)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if total.Rejected > 0 {
		return fmt.Errorf("%d records cannot be used: they are kept as rejects of the source %s, and can be replayed", total.Rejected, of.Name)
	}
	return nil
}

func takeFile(ctx context.Context, env *Env, in *intake.Intake, of *source.Opened, name string) (counts source.Counts, err error) {
	body := env.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return counts, err
		}
		defer func() { _ = file.Close() }()
		body = file
	}
	if strings.HasSuffix(name, ".gz") {
		if body, err = profile.Decompress(body, "gzip"); err != nil {
			return counts, err
		}
	}
	return in.Take(ctx, of, body, intake.Options{Limits: intake.File, Rejected: func(place int, reject *source.Reject) {
		_, _ = fmt.Fprintf(env.Stderr, "%s: record %d: %s\n", name, place, reject.Reason)
	}})
}
