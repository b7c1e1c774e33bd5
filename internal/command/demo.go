package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/demo"
)

// Demo makes up a company.
type Demo struct {
	Subscribers int    `default:"500" range:"0..10000000" help:"The size of the fleet."`
	Days        int    `default:"30" range:"0..390" help:"How many days of usage it has."`
	Seed        uint64 `default:"1" range:"0.." help:"Another seed is another company; the same seed and --until is the same company."`
	Until       string `placeholder:"TIME" help:"When the usage ends; now, in whole hours, when missing."`
	Company     string `default:"demo" placeholder:"ID" help:"The company's identifier; its users have addresses at ID.example."`
	Output      string `short:"o" placeholder:"FILE" help:"Write the bundle to a file, or to - for standard output, instead of loading it into the database."`
	Overwriting
}

// Help shows examples.
func (Demo) Help() string {
	return `Examples:

	simgraph demo
	simgraph demo --subscribers 200000 --days 0 --seed 7 --output fleet.ndjson

The company goes into the database as by import, or into a file with --output.
Its users are admin@, analyst@, partner@ (who sees one group without its
tariffs) and recorder@ the company's domain.`
}

// Run writes the bundle or loads it.
func (d *Demo) Run(ctx context.Context, env *Env) error {
	options, err := d.options(time.Now())
	if err != nil {
		return err
	}
	if d.Output != "" {
		return d.writeTo(env, d.Output, func(out io.Writer) error { return writeDemo(ctx, options, out) })
	}
	pool, done, err := env.Open(ctx, "demo")
	if err != nil {
		return err
	}
	defer done()
	counts, err := LoadDemo(ctx, env, pool, options)
	printCounts(env, counts)
	return err
}

func (d *Demo) options(now time.Time) (demo.Options, error) {
	until := now
	if d.Until != "" {
		at, err := domain.ParseInstant("until", d.Until)
		if err != nil {
			return demo.Options{}, err
		}
		until = at
	}
	options := demo.Options{Company: d.Company, Subscribers: d.Subscribers, Days: d.Days, Seed: d.Seed, Until: until.UTC().Truncate(time.Hour)}
	return options, options.Check()
}

// LoadDemo loads a made-up company into the database.
func LoadDemo(ctx context.Context, env *Env, pool *sqlx.DB, options demo.Options) (bundle.Counts, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	in, out := io.Pipe()
	defer func() { _ = in.Close() }() // so that the writer ends when the import does
	go func() { out.CloseWithError(writeDemo(ctx, options, out)) }()
	progress := env.newProgress("demo", 0)
	defer progress.clear()
	var first *bundle.LineError
	counts, err := bundles(pool, env.Log).Import(ctx, bundle.NewReader(bufio.NewReaderSize(in, 1<<20)), bundle.Options{
		By:       actor("demo"),
		Progress: progress.report,
		BadLine: func(bad *bundle.LineError) {
			if first == nil {
				first = bad
			}
		},
	})
	if err == nil && first != nil {
		err = fmt.Errorf("%d lines of the demo company were not stored, the first because: %w", counts.Failed(), first)
	}
	return counts, err
}

func writeDemo(ctx context.Context, options demo.Options, out io.Writer) error {
	w := bundle.NewWriter(out)
	for item := range demo.Items(options) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Write(item); err != nil {
			return err
		}
	}
	return w.Flush()
}
