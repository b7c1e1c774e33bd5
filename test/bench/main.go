// Command bench measures simgraph beside the ceilings of the same machine in
// the same run, and prints a table in Markdown. Ratios mean more than absolutes:
// they hold on other machines, and while others use this one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/embedded"
	"simgraph/db/pg"
)

// options are the flags.
type options struct {
	sizes       []int
	subscribers int
	duration    time.Duration
	databaseURL string
	dir         string
	// stream is the number of records of one stream to the program simgraph.
	stream   int
	simgraph string
	// bodies is the number of records of a body that is read by a profile.
	bodies int
	// rebuilt is the number of records whose totals are rebuilt.
	rebuilt int
	// exports is the number of records of which usage is exported.
	exports int
	// packets is how many of RADIUS memory is watched over.
	packets int
	// messages is how many are sent to webhooks.
	messages int
	parts    []string
}

// parts are what a run measures.
var parts = []string{"ingest", "singles", "alerts", "analytics", "feed", "blast", "stream", "profiles", "operations", "hostile", "rebuild", "exports", "idle", "messages", "followers"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := perform(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// perform does what the first argument names; by itself it measures all.
func perform(ctx context.Context, args []string) error {
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	switch {
	case name == "answers":
		return runAnswers(ctx, args)
	case name == "prices":
		return runPrices(ctx, args)
	case name == "reads":
		return runReads(ctx, args)
	case name == "soak":
		return runSoak(ctx, args)
	case name == "distribution":
		return runDistribution(ctx, args)
	case name == "ceilings" && len(args) == 2:
		listener, err := net.Listen("tcp", args[1])
		if err != nil {
			return err
		}
		return runCeilings(ctx, args[0], listener)
	case name == "" && len(args) == 0:
		if err := runAnswers(ctx, nil); err != nil {
			return err
		}
	case name != "" && name != "usage":
		return fmt.Errorf("there is no %q: name answers, usage, prices, reads, soak or distribution", name)
	}
	opt, err := parse(args)
	if err != nil {
		return err
	}
	return run(ctx, os.Stdout, opt)
}

func parse(args []string) (opt options, err error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	sizes := flags.String("sizes", "1000000,20000000", "numbers of `records` to query, rising")
	flags.IntVar(&opt.subscribers, "subscribers", 100_000, "number of subscribers")
	flags.DurationVar(&opt.duration, "duration", 5*time.Second, "how long each kind of ingest is measured")
	flags.StringVar(&opt.databaseURL, "database-url", "", "an empty database; default a private server in a temporary folder")
	flags.IntVar(&opt.stream, "stream", 10_000_000, "number of records of one stream to the server; 0 for none")
	flags.IntVar(&opt.bodies, "bodies", 100_000, "number of records of a body that is read by a profile; 0 for none")
	flags.IntVar(&opt.rebuilt, "rebuilt", 5_000_000, "number of records whose totals are rebuilt")
	flags.IntVar(&opt.exports, "exports", 5_000_000, "number of records of which usage is exported")
	flags.StringVar(&opt.simgraph, "simgraph", "./simgraph", "the server's program")
	flags.IntVar(&opt.packets, "packets", 1_000_000, "number of RADIUS packets over which memory is watched; 0 for none")
	flags.IntVar(&opt.messages, "messages", 200_000, "number of messages to webhooks; 0 for none")
	flags.StringVar(&opt.dir, "dir", "", "where the temporary folder is made")
	only := flags.String("only", strings.Join(parts, ","), "the `parts` to measure")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return opt, fmt.Errorf("%q is no number of records", text)
		}
		opt.sizes = append(opt.sizes, n)
	}
	for part := range strings.SplitSeq(*only, ",") {
		if !slices.Contains(parts, part) {
			return opt, fmt.Errorf("there is no part %q: name some of %s", part, strings.Join(parts, ", "))
		}
		opt.parts = append(opt.parts, part)
	}
	return opt, nil
}

// bench is a run.
type bench struct {
	options
	out  io.Writer
	url  string
	pool *sqlx.DB
	cpu  meter
	fleet
}

func run(ctx context.Context, out io.Writer, opt options) error {
	url, done, err := server(ctx, opt)
	if err != nil {
		return err
	}
	defer done()
	b := &bench{options: opt, out: out, url: url}
	if b.pool, err = pg.Open(ctx, url, pg.Options{}); err != nil {
		return err
	}
	defer func() { _ = b.pool.Close() }()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	steps := map[string]func(context.Context) error{
		"ingest": b.ingest, "singles": b.singles, "alerts": b.alerts, "analytics": b.analytics, "feed": b.fed, "blast": b.blasted, "stream": b.streamed, "profiles": b.profiled, "operations": b.operations, "hostile": b.hostile, "rebuild": b.rebuild, "exports": b.exported, "idle": b.idle,
		"messages": b.watched, "followers": b.followed,
	}
	for _, part := range opt.parts {
		if err := steps[part](ctx); err != nil {
			return err
		}
	}
	return nil
}

// server returns the address of a database, and what ends it.
func server(ctx context.Context, opt options) (url string, done func(), err error) {
	if opt.databaseURL != "" {
		return opt.databaseURL, func() {}, nil
	}
	dir, err := os.MkdirTemp(opt.dir, "simgraph-bench-")
	if err != nil {
		return "", nil, err
	}
	// As root the server runs as another user, who must get in.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, err
	}
	postgres, err := embedded.Start(ctx, embedded.Config{Dir: dir + "/data", Purpose: "bench"})
	if err != nil {
		return "", nil, err
	}
	return postgres.URL(), func() {
		_ = postgres.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

func (b *bench) prepare(ctx context.Context) error {
	if err := db.Migrate(ctx, b.pool); err != nil {
		return err
	}
	// Statements that were prepared before the schema changed are refused once.
	b.pool.SetMaxIdleConns(0)
	b.pool.SetMaxIdleConns(8)
	if err := b.seed(ctx, b.pool, b.subscribers); err != nil {
		return err
	}
	if _, err := b.pool.ExecContext(ctx, ledgerTables); err != nil {
		return err
	}
	return b.cpu.find(ctx, b.pool)
}
