package scaleout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/cluster"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// distributed is the service on a coordinator of Citus and two workers.
type distributed struct {
	*service
	cluster *dbtest.Cluster
	tenants []*tenant
}

// tenant is a company, the service as its administrator sees it, and a subscriber.
type tenant struct {
	*service
	number                   int64
	name                     string
	physicalID, subscriberID string
}

// names are those of the companies: enough for some on each worker.
var names = []string{"demo", "one", "two", "three", "four", "five", "six"}

// environment is that of commands on a database.
func environment(t *testing.T, url string, printed io.Writer) *command.Env {
	return &command.Env{
		Database: command.Database{DatabaseURL: url, MaxConns: 4}, Stdin: strings.NewReader(""), Stdout: printed, Stderr: io.Discard,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// serveDistributed fills a database on one server, distributes it, and serves it.
func serveDistributed(t *testing.T) *distributed {
	t.Helper()
	nodes := dbtest.NewCluster(t, 2, func(url string) {
		for i, name := range names {
			demo := command.Demo{Company: name, Subscribers: 20, Days: 1, Seed: uint64(i)}
			fatal.If(t, demo.Run(t.Context(), environment(t, url, io.Discard)))
		}
	})
	beginToDistribute(t, nodes.URL)
	var printed bytes.Buffer
	if err := (command.MigrateDistribute{}).Run(t.Context(), environment(t, nodes.URL, &printed)); err != nil {
		t.Fatal(err, printed.String())
	}
	if !strings.Contains(printed.String(), " subscribers: 140 rows distributed by company in ") {
		t.Errorf("distributing printed %s", printed.String())
	}
	d := &distributed{cluster: nodes}
	d.service = serve(t, nodes.URL, "--database-url", nodes.URL, "--mail-wait", "100ms", "--mails-per-hour", "1000", "--statement-timeout", "10s")
	for table, want := range map[string]bool{"subscribers": true, "usage_ids": false} {
		if expectsMany(t, d.direct, table) != want {
			t.Errorf("%s is expected to have many rows of a company: %t", table, !want)
		}
	}
	for _, name := range names {
		of := *d.service
		of.token = d.tokenOf("admin@" + name + ".example")
		one := &tenant{service: &of, name: name}
		row := d.direct.QueryRowContext(t.Context(), `
SELECT l.company_id, s.physical_id, s.subscriber_id FROM company_lookup l JOIN subscribers s USING (company_id)
WHERE l.external_id = $1 ORDER BY s.physical_id LIMIT 1`, name)
		fatal.If(t, row.Scan(&one.number, &one.physicalID, &one.subscriberID))
		d.tenants = append(d.tenants, one)
	}
	return d
}

// beginToDistribute ends half way, when some tables are distributed.
func beginToDistribute(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pool := open(t, url, pg.Options{MaxConns: 2})
	err := cluster.Distribute(ctx, pool, nil, func(s cluster.Step) {
		if s.Number == 10 {
			cancel()
		}
	})
	status, failed := cluster.Read(t.Context(), pool)
	if err == nil || failed != nil || len(status.Left()) == 0 || status.Keys == 0 {
		t.Errorf("distributing that is cancelled: %v, %+v, %v", err, status, failed)
	}
}

// on returns a company other than the first whose rows a worker has.
func (d *distributed) on(worker int) *tenant {
	d.t.Helper()
	for _, one := range d.tenants[1:] {
		if d.cluster.NodeOf(one.number) == worker {
			return one
		}
	}
	d.t.Fatalf("no company is on worker %d", worker)
	return nil
}

// works checks reads, edits, usage, alerts and mail of a company; each call has a
// name of its own.
func (o *tenant) works(name string) {
	o.t.Helper()
	o.crosses(o.alertAhead(), name)
}

// alertAhead sets an alert that the next usage crosses, and returns its threshold.
func (o *tenant) alertAhead() (threshold int64) {
	o.t.Helper()
	threshold = o.dataUsage(o.physicalID) + 1_001
	o.alert(threshold)
	return threshold
}

// crosses is works with an alert that was set before.
func (o *tenant) crosses(threshold int64, name string) {
	o.t.Helper()
	o.must(document(everyQuery, map[string]any{"id": o.physicalID}))
	for _, path := range []string{"/subscribers", "/tags", "/subscriber-groups", "/alerts", "/alerts/recipients", "/alerts/logs"} {
		o.must(request{method: http.MethodGet, path: path})
	}
	o.must(document(writeNickname, map[string]any{"id": o.physicalID, "to": name}))
	if got := o.must(document(readNickname, map[string]any{"id": o.physicalID})); !got.shows(name) {
		o.t.Errorf("the write is not read: %s", got.body)
	}
	o.must(request{method: http.MethodPost, path: "/usage/records", body: record(o.physicalID, name, 5_000)})
	eventually(o.t, "the mail of the alert is sent", func() bool {
		log := o.must(document(`{ alertLog(first: 20) { nodes { ... on VolumeLogEntry { threshold } deliveries { state } } } }`, nil)).body
		_, after, found := strings.Cut(string(log), fmt.Sprintf(`"threshold":"%d"`, threshold))
		after, _, _ = strings.Cut(after, "threshold")
		return found && strings.Contains(after, strings.ToUpper(string(domain.Delivered)))
	})
}

// alert sets an alert on the subscriber and returns its number.
func (o *tenant) alert(threshold int64) (number string) {
	o.t.Helper()
	made := o.must(document(`mutation Set($sim: String!, $at: BigInt!) { createAlert(input: {ruleType: SIM, target: $sim, lowerThreshold: $at, upperThreshold: "900000000000000"}) { alert { alertId } } }`,
		map[string]any{"sim": o.subscriberID, "at": fmt.Sprint(threshold)}))
	_, number, _ = strings.Cut(string(made.body), `"alertId":`)
	number, _, _ = strings.Cut(number, "}")
	return number
}

// expectUnavailable sends what needs the node of a company that is away.
func (o *tenant) expectUnavailable() {
	o.t.Helper()
	for _, one := range []request{
		{method: http.MethodGet, path: "/subscribers"},
		{method: http.MethodPatch, path: "/subscribers/" + o.physicalID, body: map[string]any{"nickname": "lost"}},
		{method: http.MethodPost, path: "/usage/records", body: record(o.physicalID, "lost", 1)},
	} {
		if got, err := o.send(one); got.status != http.StatusServiceUnavailable {
			o.t.Errorf("%s %s: %d %s, %v", one.method, one.path, got.status, got.body, err)
		}
	}
	if got, _ := o.send(document(readNickname, map[string]any{"id": o.physicalID})); !strings.Contains(string(got.body), `UNAVAILABLE`) {
		o.t.Errorf("the graph answers %d %s", got.status, got.body)
	}
}

func (o *tenant) deliveries() (n int) {
	o.t.Helper()
	fatal.If(o.t, o.direct.GetContext(o.t.Context(), &n, "SELECT count(*) FROM alert_deliveries WHERE company_id = $1", o.number))
	return n
}

// awaitAnswers waits until every session of the service has a connection to the
// node of the company again.
func (o *tenant) awaitAnswers() {
	o.t.Helper()
	eventually(o.t, "all of many requests are answered", func() bool {
		var failed atomic.Int64
		var clients sync.WaitGroup
		for range 32 {
			clients.Go(func() {
				if _, err := o.send(request{method: http.MethodGet, path: "/subscribers"}); err != nil {
					failed.Add(1)
				}
			})
		}
		clients.Wait()
		return failed.Load() == 0
	})
}

// writers records usage for companies from several clients until they are stopped,
// each record again until it is accepted. They return how many were.
func (d *distributed) writers(of ...*tenant) (stop func() map[*tenant]int64) {
	ended, end := context.WithCancel(d.t.Context())
	accepted := make([]atomic.Int64, len(of))
	var clients sync.WaitGroup
	for client := range 4 {
		i := client % len(of)
		clients.Go(func() {
			for n := 0; ended.Err() == nil; n++ {
				for !of[i].accepts(fmt.Sprintf("w-%d-%d", client, n)) {
					if d.t.Context().Err() != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
				accepted[i].Add(1)
			}
		})
	}
	return func() map[*tenant]int64 {
		end()
		clients.Wait()
		counts := map[*tenant]int64{}
		for i, one := range of {
			counts[one] = accepted[i].Load()
		}
		return counts
	}
}

const recordBytes = 1_000

// accepts reports whether a record is booked.
func (o *tenant) accepts(id string) bool {
	got, err := o.send(request{method: http.MethodPost, path: "/usage/records", body: record(o.physicalID, id, recordBytes)})
	if err != nil && got.status != 0 && got.status != http.StatusServiceUnavailable {
		o.t.Errorf("a record is answered with %v", err)
	}
	return err == nil && (strings.Contains(string(got.body), `"accepted"`) || strings.Contains(string(got.body), `"duplicate"`))
}

// booked waits for some records more of each company.
func (d *distributed) booked(of ...*tenant) {
	d.t.Helper()
	for _, one := range of {
		before := one.dataUsage(one.physicalID)
		eventually(d.t, "more is booked", func() bool { return one.dataUsage(one.physicalID) > before+20*recordBytes })
	}
}

// expectBooked checks totals, of which before were booked earlier.
func (d *distributed) expectBooked(before, records map[*tenant]int64) {
	d.t.Helper()
	// Sessions of before may have connections to nodes that were killed.
	upkeep := usage.New(open(d.t, d.cluster.URL, pg.Options{MaxConns: 1}), nil, usage.Options{})
	for one, n := range records {
		if now := one.dataUsage(one.physicalID); now != before[one]+n*recordBytes {
			d.t.Errorf("company %d has %d bytes, not %d", one.number, now-before[one], n*recordBytes)
		}
		if _, wrong, err := upkeep.Rebuild(d.t.Context(), domain.Whole(domain.CompanyID(one.number))); err != nil || wrong != 0 {
			d.t.Errorf("company %d has %d wrong totals, %v", one.number, wrong, err)
		}
		d.t.Logf("company %d: %d records were accepted", one.number, n)
	}
}

func used(of ...*tenant) map[*tenant]int64 {
	before := map[*tenant]int64{}
	for _, one := range of {
		before[one] = one.dataUsage(one.physicalID)
	}
	return before
}

// One cluster lives through all of it, since to make one takes longest.
func TestCitusRunsTheServiceThroughFaultsAndMoves(t *testing.T) {
	t.Parallel()
	d := serveDistributed(t)
	d.runsTheWholeService()
	d.goesOnWithoutAWorker()
	d.outlastsAWorkerThatHangs()
	d.losesNothingWhenCompaniesMove()
	d.losesNothingWhenTheCoordinatorIsKilled()
}

func (d *distributed) runsTheWholeService() {
	d.t.Helper()
	one := d.tenants[0]
	fired := one.events(`subscription { alertTriggered { ... on VolumeLogEntry { threshold } } }`)
	changed := one.events(`subscription { subscriberChanged { nickname } }`)
	one.works("everything")
	for !strings.Contains(one.await(changed), "everything") {
		continue // what the demo's alerts did
	}
	one.await(fired)
	one.many(one.physicalID)

	number := one.alert(1)
	eventually(d.t, "the alert has fired", func() bool {
		return strings.Contains(string(one.must(document(`{ alertLog(first: 50) { nodes { ... on VolumeLogEntry { threshold } } } }`, nil)).body), `"threshold":"1"`)
	})
	before := one.deliveries()
	for _, upper := range []string{"800000000000000", "700000000000000"} {
		one.must(document(`mutation Edit($id: Int!, $to: BigInt!) { editAlert(input: {alertId: $id, lowerThreshold: 1, upperThreshold: $to}) { alert { alertId } } }`,
			map[string]any{"id": json.Number(number), "to": upper}))
	}
	if after := one.deliveries(); after != before {
		d.t.Errorf("%d deliveries were made by edits", after-before)
	}
}

func (d *distributed) goesOnWithoutAWorker() {
	d.t.Helper()
	lost, other := d.on(1), d.on(2)
	lost.works("before")
	other.works("before")
	ahead := other.alertAhead()
	d.cluster.Kill(1)
	eventually(d.t, "the first request fails", func() bool {
		_, err := lost.send(request{method: http.MethodGet, path: "/subscribers"})
		return err != nil
	})
	lost.expectUnavailable()
	other.crosses(ahead, "meanwhile")
	other.works("with a new alert")
	other.growsWithoutTheOthers(d.cluster.URL)
	lost.expectUnavailable()
	d.cluster.Restart(1)
	lost.awaitAnswers()
	lost.works("afterwards")
	other.works("afterwards")
}

// outlastsAWorkerThatHangs freezes a worker, which takes connections and answers
// none: requests of its companies end by the statement timeout.
func (d *distributed) outlastsAWorkerThatHangs() {
	d.t.Helper()
	lost, other := d.on(1), d.on(2)
	ahead := other.alertAhead()
	thaw := d.cluster.Freeze(1)
	if got, err := lost.send(request{method: http.MethodGet, path: "/subscribers"}); got.status != http.StatusServiceUnavailable {
		d.t.Errorf("a request of a company on a worker that hangs is answered %d %s, %v", got.status, got.body, err)
	}
	other.crosses(ahead, "beside a worker that hangs")
	other.works("beside a worker that hangs, with a new alert")
	thaw()
	lost.awaitAnswers()
	lost.works("after the worker hung")
}

// growsWithoutTheOthers makes a subscriber, edits an alert and a user, and imports
// what the company exports.
func (o *tenant) growsWithoutTheOthers(url string) {
	o.t.Helper()
	o.must(document(`mutation Create($id: String!, $sim: String!) { createSubscriber(input: {physicalId: $id, subscriberId: $sim, operatorCode: "23415", tariffName: "IoT 50",
  contractLength: 12, connectionDate: "2026-01-01T00:00:00Z", expiryDate: "2028-01-01T00:00:00Z"}) { subscriber { physicalId } } }`,
		map[string]any{"id": "new", "sim": "447700900001"}))
	number := o.alert(1_000_000_000_000)
	o.must(document(`mutation Edit($id: Int!) { editAlert(input: {alertId: $id, lowerThreshold: 1, upperThreshold: "800000000000000"}) { alert { alertId } } }`,
		map[string]any{"id": json.Number(number)}))
	var bundle bytes.Buffer
	fatal.If(o.t, (&command.Export{Company: o.name, Output: "-"}).Run(o.t.Context(), environment(o.t, url, &bundle)))
	again := environment(o.t, url, io.Discard)
	again.Stdin = strings.NewReader(strings.ReplaceAll(bundle.String(), `"nickname":"`, `"nickname":"more `))
	if err := (&command.Import{Files: []string{"-"}, Format: "auto", Type: "usage"}).Run(o.t.Context(), again); err != nil {
		o.t.Error(err)
	}
}

func (d *distributed) losesNothingWhenCompaniesMove() {
	d.t.Helper()
	first, second := d.on(1), d.on(2)
	before := used(first, second)
	stop := d.writers(first, second)
	d.booked(first, second)
	d.cluster.AddWorker()
	for _, one := range []*tenant{first, second} {
		d.cluster.Move(one.number, 3)
		d.booked(first, second)
	}
	d.expectBooked(before, stop())
	first.works("moved")
	second.works("moved")
}

func (d *distributed) losesNothingWhenTheCoordinatorIsKilled() {
	d.t.Helper()
	first, second := d.on(1), d.on(2)
	before := used(first, second)
	stop := d.writers(first, second)
	d.booked(first, second)
	d.cluster.Kill(0)
	first.expectUnavailable()
	d.cluster.Restart(0)
	first.awaitAnswers()
	d.booked(first, second)
	d.expectBooked(before, stop())
	first.works("afterwards")
}
func TestCitusTakesImportsAndMigrations(t *testing.T) {
	if testing.Short() {
		t.Skip("it is a test of statements: the race detector finds nothing in it")
	}
	t.Parallel()
	nodes := dbtest.NewCluster(t, 2, nil)
	env := environment(t, nodes.URL, io.Discard)
	for seed := range uint64(2) {
		fatal.If(t, (&command.Demo{Company: fmt.Sprint("new-", seed), Subscribers: 20, Days: 1, Seed: seed}).Run(t.Context(), env))
	}
	pool := open(t, nodes.URL, pg.Options{MaxConns: 2})
	later := db.NewMigrations(pool, nil, env.Log)
	for range 2 {
		if _, err := later.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := later.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	pool.MustExec(`CREATE TABLE later (company_id bigint NOT NULL, n int, PRIMARY KEY (company_id, n))`)
	pool.MustExec(`SELECT simgraph_distribute('later')`)
	pool.MustExec(`SELECT simgraph_expect_rows('later')`)
	if !expectsMany(t, pool, "later") {
		t.Error("a new table is expected to have few rows of a company")
	}
	var together bool
	if err := pool.Get(&together, `SELECT count(DISTINCT colocationid) = 1 FROM pg_dist_partition WHERE logicalrelid IN ('companies'::regclass, 'later'::regclass)`); err != nil || !together {
		t.Errorf("a new table is beside companies: %t, %v", together, err)
	}
	var printed bytes.Buffer
	if err := (command.MigrateStatus{}).Run(t.Context(), environment(t, nodes.URL, &printed)); err != nil || !strings.Contains(printed.String(), " 6 with a copy on every node\n  coordinator ") || strings.Count(printed.String(), ": 2 shards\n") != 2 {
		t.Errorf("the status is %s, %v", printed.String(), err)
	}
	printed.Reset()
	if err := (command.MigrateDistribute{}).Run(t.Context(), environment(t, nodes.URL, &printed)); err != nil || printed.String() != "the database is distributed already\n" {
		t.Errorf("distributing once more: %s, %v", printed.String(), err)
	}
	expectRefused(t, nodes)
}

// expectsMany reports whether the planner expects as many rows of a company in each part of a
// table as simgraph_expect_rows sets.
func expectsMany(t *testing.T, pool sqlx.QueryerContext, table string) (is bool) {
	t.Helper()
	fatal.If(t, sqlx.GetContext(t.Context(), pool, &is, `
SELECT bool_and(COALESCE(r.result LIKE '%n_distinct=%', false))
FROM run_command_on_placements($1::text::regclass, $$SELECT attoptions::text FROM pg_attribute WHERE attrelid = '%s'::regclass AND attname = 'company_id'$$) AS r`, table))
	return is
}

// expectRefused starts the service at a worker, and with a standby.
func expectRefused(t *testing.T, nodes *dbtest.Cluster) {
	t.Helper()
	for want, flags := range map[string][]string{
		"the server is a worker of Citus: use the address of the coordinator":         {"--database-url", nodes.Worker(1)},
		"--database-replica-url: the database is distributed by Citus; the position ": {"--database-url", nodes.URL, "--database-replica-url", nodes.URL},
	} {
		line := commandLine{}
		parser := kong.Must(&line, kong.Vars{"dataDir": t.TempDir()})
		if _, err := parser.Parse(append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, flags...)); err != nil {
			t.Fatal(err)
		}
		env := environment(t, "", io.Discard)
		env.Database = line.Database
		if err := line.Serve.Run(t.Context(), env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v ended with %v", flags, err)
		}
	}
}
