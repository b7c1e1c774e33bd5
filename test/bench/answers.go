package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"simgraph/db/pg"
)

// answers measures what answers cost, beside three ceilings: a handler with one
// statement that returns the finished JSON, a bare handler that runs the server's
// statements and encodes their rows, and PostgreSQL alone.
type answers struct {
	*bench
	groups, records int
	companies       int
	rounds          int
	connections     int
	file, against   string
	only            string
	steady          time.Duration
	scaling         bool
	all             bool

	token     string
	workloads []*workload
}

func parseAnswers(args []string) (*answers, error) {
	a := &answers{bench: &bench{out: os.Stdout}}
	flags := flag.NewFlagSet("bench answers", flag.ContinueOnError)
	flags.IntVar(&a.subscribers, "subscribers", 200_000, "number of subscribers, each with three tags")
	flags.IntVar(&a.groups, "groups", 500, "number of groups, at least 200")
	flags.IntVar(&a.companies, "companies", 0, "number of companies of one subscriber beside the fleet")
	flags.IntVar(&a.records, "records", 5_000_000, "number of usage records")
	flags.IntVar(&a.rounds, "rounds", 3, "how often everything is measured; the table has the medians")
	flags.IntVar(&a.connections, "connections", 32, "number of HTTP connections")
	flags.DurationVar(&a.duration, "duration", 3*time.Second, "how long each measurement takes")
	flags.StringVar(&a.databaseURL, "database-url", "", "a database, empty or from an earlier run; default a private server in a temporary folder")
	flags.StringVar(&a.dir, "dir", "", "where the temporary folder is made")
	flags.StringVar(&a.simgraph, "simgraph", "./simgraph", "the server's program")
	flags.StringVar(&a.file, "o", "bench-answers.json", "where the figures are written")
	flags.StringVar(&a.against, "against", "", "the `file` of an earlier run to compare with")
	flags.StringVar(&a.only, "only", "", "measure only the workloads whose name holds this")
	flags.DurationVar(&a.steady, "steady", time.Minute, "how long the server's memory is watched under all workloads; 0 for not at all")
	flags.BoolVar(&a.scaling, "scaling", false, "instead compare 10,000 subscribers with 1,000,000, and few rows with many")
	return a, flags.Parse(args)
}

func runAnswers(ctx context.Context, args []string) error {
	a, err := parseAnswers(args)
	if err != nil {
		return err
	}
	url, done, err := server(ctx, a.options)
	if err != nil {
		return err
	}
	defer done()
	a.url = url
	if a.pool, err = pg.Open(ctx, url, pg.Options{}); err != nil {
		return err
	}
	defer func() { _ = a.pool.Close() }()
	if a.scaling {
		return a.scale(ctx)
	}
	if err := a.prepareFleet(ctx); err != nil {
		return err
	}
	if err := a.record(ctx); err != nil {
		return err
	}
	return a.measure(ctx)
}

// measure interleaves the rounds, so that what else the machine does falls on all
// alike.
func (a *answers) measure(ctx context.Context) error {
	server, err := startServer(ctx, a.simgraph, a.url)
	if err != nil {
		return err
	}
	defer server.stop()
	ceilings, err := a.startCeilings(ctx)
	if err != nil {
		return err
	}
	defer ceilings.stop()
	r := newReport(a)
	for round := range a.rounds {
		for _, w := range a.workloads {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, a.rounds, w.Name)
			row := r.row(w)
			row.Server = append(row.Server, a.load(ctx, server, w.request, 0))
			row.Limit = append(row.Limit, a.load(ctx, ceilings, w.limitRequest, 0))
			row.Bare = append(row.Bare, a.load(ctx, ceilings, w.bareRequest, 0))
			row.PostgreSQL = append(row.PostgreSQL, a.pgbench(ctx, w.Name, w.Variants[0].Statements, 8))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	for _, w := range a.workloads {
		row := r.row(w)
		half := median(row.Server, rate) / 2
		row.Half, row.BareHalf = a.load(ctx, server, w.request, half), a.load(ctx, ceilings, w.bareRequest, half)
		row.Allocations, row.Bytes = a.allocations(ctx, w)
	}
	if r.Compression, err = a.compress(ctx, server); err != nil {
		return err
	}
	if a.steady > 0 {
		r.SteadyMB, r.SteadySeconds = a.keepOn(ctx, server), int(a.steady.Seconds())
	}
	r.ResidentMB = resident(server.pid)
	if err := r.write(a.file); err != nil {
		return err
	}
	return r.print(a.out, a.against)
}
