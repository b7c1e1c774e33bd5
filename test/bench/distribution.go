package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db"
	"simgraph/db/pg"
	"simgraph/db/pg/stmtcache"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/usage"
	"simgraph/domain"
)

// target is a database that the same work is done in.
type target struct {
	name string
	pool *sqlx.DB
	fleet
	// cpu are the servers that work for it.
	cpu []meter

	subscribers *subscriber.Store
	tags        *tag.Store
	usage       *usage.Store
	records     *source
	round       int
}

// work is what is measured.
type work struct {
	name string
	// each is how many records or subscribers it is done to at once.
	each int
	do   func(ctx context.Context, in *target, n int) error
}

// tookOf is what a kind of work took in a target.
type tookOf struct {
	each       []time.Duration
	cpu        time.Duration
	statements int64
}

// runDistribution compares a plain database, a coordinator of Citus, and the worker that
// has the company, in turns.
func runDistribution(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench distribution", flag.ContinueOnError)
	plain := flags.String("plain", "", "an empty database, or one of an earlier run; default a private server in a temporary folder")
	coordinator := flags.String("coordinator", "", "the same on a coordinator of Citus, with the extension and its nodes")
	worker := flags.String("worker", "", "the database on the worker that has the rows, which is the only one")
	duration := flags.Duration("duration", 20*time.Second, "how long each kind of work is measured in all")
	subscribers := flags.Int("subscribers", 10_000, "number of subscribers")
	dir := flags.String("dir", "", "where the temporary folder is made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	url, done, err := server(ctx, options{databaseURL: *plain, dir: *dir})
	if err != nil {
		return err
	}
	defer done()
	var statements atomic.Int64
	targets := make([]*target, 0, 3)
	for _, of := range []struct{ name, url string }{{"plain", url}, {"coordinator", *coordinator}, {"worker", *worker}} {
		if of.url == "" {
			continue
		}
		one, err := newTarget(ctx, of.name, of.url, targets, &statements)
		if err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		defer func() { _ = one.pool.Close() }()
		if err := one.fill(ctx, *subscribers, len(targets)); err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		targets = append(targets, one)
	}
	if len(targets) == 3 { // what a coordinator is asked, its worker does
		targets[1].cpu = append(targets[1].cpu, targets[2].cpu...)
	}
	fmt.Println("| work | statements |" + head(targets))
	for _, w := range works(*subscribers) {
		if err := compare(ctx, w, targets, *duration, &statements); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func head(targets []*target) string {
	names, line := "", "\n|---|--:|"
	for _, t := range targets {
		names, line = names+" "+t.name+" | CPU |", line+"--:|--:|"
	}
	return names + line
}

// newTarget opens a database. pg.Open refuses workers, since the service has to use their
// coordinator.
func newTarget(ctx context.Context, name, url string, before []*target, statements *atomic.Int64) (*target, error) {
	t := &target{name: name}
	observe := func(context.Context, string) { statements.Add(1) }
	var err error
	if name != "worker" {
		t.pool, err = pg.Open(ctx, url, pg.Options{Observe: observe})
	} else {
		var connector *pq.Connector
		if connector, err = pq.NewConnector(url); err == nil {
			t.pool = sqlx.NewDb(sql.OpenDB(stmtcache.New(connector, new(net.Dialer), stmtcache.DefaultSize,
				func(ctx context.Context, query string) func(error) { observe(ctx, query); return nil })), "postgres")
			t.pool.Mapper = before[0].pool.Mapper
		}
	}
	if err != nil {
		return nil, err
	}
	t.cpu = make([]meter, 1)
	return t, t.cpu[0].find(ctx, t.pool)
}

const (
	findSeeded    = `SELECT company_id FROM company_lookup WHERE external_id = 'bench'`
	newestSeeded  = `SELECT count(*) FROM usage_sources WHERE company_id = $1`
	forgetSamples = `DELETE FROM subscriber_tags WHERE company_id = $1 AND tag_name = $2`
)

// fill seeds the fleet, unless an earlier run did, or another node of the database has it.
func (t *target) fill(ctx context.Context, subscribers, place int) error {
	if t.name != "worker" {
		if err := db.Migrate(ctx, t.pool); err != nil {
			return err
		}
		t.pool.SetMaxIdleConns(0) // statements of before the schema are refused once
		t.pool.SetMaxIdleConns(8)
	}
	year, month, _ := time.Now().UTC().Date()
	t.month.End = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	t.month.Start = t.month.End.AddDate(0, -1, 0)
	var found []domain.CompanyID
	if err := t.pool.SelectContext(ctx, &found, findSeeded); err != nil {
		return err
	}
	if len(found) == 0 {
		if err := t.seed(ctx, t.pool, subscribers); err != nil {
			return err
		}
	} else {
		t.scope.Company = found[0]
	}
	t.subscribers, t.tags, t.usage = subscriber.New(t.pool), tag.New(t.pool), usage.New(t.pool, nil, usage.Options{})
	if t.name != "worker" {
		if err := t.usage.EnsurePartitions(ctx); err != nil {
			return err
		}
	}
	var earlier int
	if err := t.pool.GetContext(ctx, &earlier, newestSeeded, t.scope.Company); err != nil {
		return err
	}
	t.records = newSource(1000+10*earlier+place, subscribers, t.month.Start)
	return nil
}

func idOf(n int) string { return fmt.Sprintf("8944%015d", n) }

func works(subscribers int) []work {
	record := func(ctx context.Context, in *target, n int) error {
		results, err := in.usage.Record(ctx, in.scope, in.records.records(n))
		if err == nil && results[0].Err != nil {
			err = results[0].Err
		}
		return err
	}
	return []work{
		{"read a subscriber with its usage", 1, func(ctx context.Context, in *target, _ int) error {
			_, err := in.subscribers.Find(ctx, in.scope, idOf(in.round%subscribers), domain.Projection{Fields: domain.AllFields, PeriodStart: in.month.Start})
			return err
		}},
		{"list 100 subscribers", 100, func(ctx context.Context, in *target, n int) error {
			_, err := in.subscribers.List(ctx, in.scope, domain.Listing{
				Page: domain.Page{Limit: n}, Projection: domain.Projection{Fields: domain.AllFields, PeriodStart: in.month.Start},
			})
			return err
		}},
		{"edit a nickname", 1, func(ctx context.Context, in *target, _ int) error {
			_, err := in.subscribers.EditNickname(ctx, in.scope, idOf(in.round%subscribers), fmt.Sprint("named ", in.round))
			return err
		}},
		{"attach a tag", 1, func(ctx context.Context, in *target, _ int) error {
			return in.attach(ctx, fmt.Sprint("once ", in.round%50), in.round%subscribers, 1)
		}},
		{"record usage, 1 record", 1, record},
		{"record usage, 100 records", 100, record},
		{"record usage, 10,000 records", domain.MaxUsageBatch, record},
		{"attach a tag to 1,000 subscribers", 1000, func(ctx context.Context, in *target, n int) error {
			if err := in.attach(ctx, "many", 0, n); err != nil {
				return err
			}
			_, err := in.pool.ExecContext(ctx, forgetSamples, in.scope.Company, "many")
			return err
		}},
	}
}

func (t *target) attach(ctx context.Context, tag string, from, n int) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = idOf(from + i)
	}
	_, err := t.tags.Attach(ctx, t.scope, domain.TagName(tag), ids)
	return err
}

// turn is how long one target works before the next does.
const turn = 500 * time.Millisecond

// compare does the work in all targets in turns, so that what else the machine does
// meets them alike.
func compare(ctx context.Context, w work, targets []*target, duration time.Duration, statements *atomic.Int64) error {
	took := make([]tookOf, len(targets))
	for n, began := 0, time.Now(); n < 2 || time.Since(began) < duration; n++ {
		for i, in := range targets {
			before, sent := in.used(), statements.Load()
			for first := time.Now(); time.Since(first) < turn; {
				in.round++
				start := time.Now()
				if err := w.do(ctx, in, w.each); err != nil {
					return fmt.Errorf("%s: %w", in.name, err)
				}
				if n > 0 { // after a turn to prepare statements
					took[i].each = append(took[i].each, time.Since(start))
				}
			}
			if n > 0 {
				took[i].cpu += in.used() - before
				took[i].statements += statements.Load() - sent
			}
		}
	}
	row := fmt.Sprintf("| %s | %.1f |", w.name, float64(took[0].statements)/float64(len(took[0].each)))
	for i := range took {
		row += fmt.Sprintf(" %s%s | %s%s |", millis(took[i].median()), than(i, took[i].median(), took[0].median()), micros(took[i].cpuEach()), than(i, took[i].cpuEach(), took[0].cpuEach()))
	}
	_, err := fmt.Fprintln(os.Stdout, row)
	return err
}

// than is the ratio to the first target.
func than(place int, of, to time.Duration) string {
	if place == 0 || to == 0 {
		return ""
	}
	return " (" + ratio(of, to) + ")"
}

func (t *target) used() (all time.Duration) {
	for i := range t.cpu {
		all += t.cpu[i].total()
	}
	return all
}

func (of *tookOf) median() time.Duration {
	slices.Sort(of.each)
	return of.each[len(of.each)/2]
}

func (of *tookOf) cpuEach() time.Duration { return of.cpu / time.Duration(len(of.each)) }
