package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/internal/bundle"
)

// Import loads bundles.
type Import struct {
	Files  []string `arg:"" name:"file" help:"Bundles to load, one after the other; - is standard input."`
	Format string   `enum:"auto,ndjson,csv" default:"auto" help:"How the files are written: ndjson, csv, or auto, which takes .csv for CSV and everything else for NDJSON."`
	Type   string   `enum:"usage" default:"usage" help:"What a CSV file holds: usage."`
}

// Help shows examples.
func (Import) Help() string {
	return `Examples:

	simgraph import acme.ndjson usage-2026-11.csv
	simgraph export --company acme | simgraph import --database-url postgres://other.example/simgraph -

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

func (i *Import) load(ctx context.Context, env *Env, pool *sqlx.DB, name string) (bundle.Counts, error) {
	bytes, err := size(name)
	if err != nil {
		return nil, err
	}
	in := env.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	progress := env.newProgress("import "+name, bytes)
	defer progress.clear()
	return stores(pool).Import(ctx, i.reader(name, in), bundle.Options{
		By:       actor("import"),
		Progress: progress.report,
		BadLine: func(bad *bundle.LineError) {
			progress.clear()
			_, _ = fmt.Fprintf(env.Stderr, "%s:%d: %v\n", name, bad.Line, bad.Err)
		},
	})
}

func (i *Import) reader(name string, in io.Reader) *bundle.Reader {
	if i.Format == "csv" || i.Format == "auto" && strings.HasSuffix(strings.ToLower(name), ".csv") {
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

// stores are where bundles go.
func stores(pool *sqlx.DB) bundle.Stores {
	return bundle.Stores{
		Importer:   db.NewImporter(pool),
		Companies:  companies.New(pool),
		Alerts:     db.NewAlerts(pool, time.Now),
		Recipients: db.NewRecipients(pool, time.Now),
		Usage:      newUsage(pool),
		Audit:      audit.NewLog(pool),
	}
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
