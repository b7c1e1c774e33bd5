package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/pg"
	"simgraph/graph/generated"
)

const (
	// mostCPU is what a read may take of the largest fleet without being printed, in
	// microseconds, and grown how many times that of the smallest fleet.
	mostCPU, grown = 50_000, 3
	// pageOfReads is how many rows a list returns at most.
	pageOfReads = 50
)

// seedLogs gives each subscriber an entry of the alert log, two sessions, a mail or a message
// and an entry of the audit log.
var seedLogs = []string{
	`INSERT INTO alerts (company_id, rule_type, date_created) VALUES ($1, 'company', '2026-01-01')`,
	`INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT s.company_id, a.alert_id, 'company', 'bench', 'lower', 1, s.key, '2026-01-01', '2026-02-01', 1000000, 1000000 + s.key * 7919 % 1000003, false,
  '2026-01-01'::timestamptz + s.key * interval '1 second'
FROM subscribers s JOIN alerts a ON a.company_id = s.company_id WHERE s.company_id = $1`,
	`INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at,
  interval_seconds, ended_at, cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, imei, rat_type, visited_network, cell)
SELECT s.company_id, md5(s.key || '-' || n)::uuid, 0, s.key, 'pgw-' || s.key % 4, '', s.key || '-' || n, s.physical_id, s.imsi, '', began.at, began.at, began.at + interval '1 hour',
  0, CASE WHEN n = 1 THEN began.at + interval '1 hour' END, '', s.key * 7919 % 1000003, s.key * 104729 % 10000019, 3, 3, false, false, false, 'apn' || s.key % 5,
  '35' || lpad(s.key::text, 13, '0'), 'lte', (ARRAY['23410', '20810', '26201'])[1 + s.key % 3], 'cell' || s.key % 500
FROM subscribers s, generate_series(1, 2) n, LATERAL (SELECT '2026-01-01'::timestamptz + n * interval '1 day' + s.key % 2000 * interval '20 minutes' AS at) began
WHERE s.company_id = $1`,
	`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at, finished_at)
SELECT company_id, md5(key::text)::uuid, 1, 'watch@bench.example', 'alerts', 'sent', '2026-01-01', '2026-01-01'::timestamptz + key * interval '1 second', '2026-02-01'
FROM subscribers WHERE company_id = $1 AND key % 2 = 0`,
	`WITH hook AS (
  INSERT INTO webhooks (company_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, disabled_at, disabled_reason)
  VALUES ($1, 'hook', 'https://hook.bench.example/', 'cloudevents', '{}', '{}', '{}', '{}', '', now(), now(), 'user') RETURNING company_id, webhook_id
)
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, state, created_at, finished_at)
SELECT s.company_id, md5(s.key::text)::uuid, h.webhook_id, 'alert.fired', '{}', 'delivered', '2026-01-01'::timestamptz + s.key * interval '1 second', '2026-02-01'
FROM subscribers s JOIN hook h ON h.company_id = s.company_id WHERE s.key % 2 = 1`,
	`INSERT INTO audit_log (company_id, sequence, at, action, subject_type, subject_id, changes, user_id, actor, access_key_id, door, address, request_id, hash)
SELECT company_id, 1000 + key, '2026-01-01'::timestamptz + key * interval '1 second', 'edited', 'subscriber', physical_id, '{}', key % 7, 'user-' || key % 7, '', 'graphql', '', '', ''
FROM subscribers WHERE company_id = $1`,
	`ANALYZE`,
}

// runReads measures lists in all their orders and by all their filters, and all parts of usage,
// in fleets of several sizes.
func runReads(ctx context.Context, args []string) error {
	a := &answers{bench: &bench{out: os.Stdout}, groups: 500, connections: 1}
	flags := flag.NewFlagSet("bench reads", flag.ContinueOnError)
	sizes := flags.String("subscribers", "20000,200000", "numbers of `subscribers`, rising")
	flags.IntVar(&a.companies, "companies", 0, "number of companies of one subscriber beside the last fleet")
	each := flags.Int("records", 25, "number of usage records for each subscriber")
	flags.DurationVar(&a.duration, "duration", 300*time.Millisecond, "how long each read is repeated")
	flags.StringVar(&a.simgraph, "simgraph", "./simgraph", "the server's program")
	flags.StringVar(&a.dir, "dir", "", "where the temporary folder is made")
	flags.BoolVar(&a.all, "all", false, "print all reads")
	flags.StringVar(&a.only, "only", "", "measure only the reads whose name holds this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var found [][]priced
	companies := a.companies
	fleets := strings.Split(*sizes, ",")
	for i, text := range fleets {
		a.companies = 0
		if i == len(fleets)-1 {
			a.companies = companies
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of subscribers", text)
		}
		a.subscribers, a.records = n, n**each
		reads, err := a.readsOfFleet(ctx)
		if err != nil {
			return err
		}
		found = append(found, reads)
	}
	return a.printReads(found[0], found[len(found)-1])
}

// readsOfFleet makes a fleet of a size, and measures all reads of it.
func (a *answers) readsOfFleet(ctx context.Context) ([]priced, error) {
	url, done, err := server(ctx, a.options)
	if err != nil {
		return nil, err
	}
	defer done()
	a.url, a.scope.Company = url, 0
	if a.pool, err = pg.Open(ctx, url, pg.Options{}); err != nil {
		return nil, err
	}
	defer func() { _ = a.pool.Close() }()
	if err := a.prepareFleet(ctx); err != nil {
		return nil, err
	}
	for _, sql := range seedLogs {
		var args []any
		if strings.Contains(sql, "$1") {
			args = []any{a.scope.Company}
		}
		if _, err := a.pool.ExecContext(ctx, sql, args...); err != nil {
			return nil, err
		}
	}
	started, err := startServer(ctx, a.simgraph, a.url)
	if err != nil {
		return nil, err
	}
	defer started.stop()
	var found []priced
	for _, read := range a.reads() {
		if !strings.Contains(read, a.only) {
			continue
		}
		one, err := a.priced(ctx, started, read, "{"+read+"}")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", read, err)
		}
		found = append(found, one)
	}
	if len(found) == 0 {
		return nil, errors.New("no read has such a name")
	}
	return found, nil
}

// reads are documents without their braces: the lists of Query and of the company, and usage.
func (a *answers) reads() []string {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	all := listReads(schema, schema.Query, "%s")
	for _, read := range listReads(schema, schema.Types["Company"], "company {%s}") {
		if bare := strings.TrimSuffix(strings.TrimPrefix(read, "company {"), "}"); !slices.Contains(all, bare) {
			all = append(all, read)
		}
	}
	month := func(end time.Time) string {
		return fmt.Sprintf(`company {usage(start: "%s", end: "%s") {%%s}}`, a.month.Start.Format(time.RFC3339), end.Format(time.RFC3339))
	}
	for _, span := range []string{month(a.month.End), month(a.month.Start.AddDate(0, 0, 17).Add(5 * time.Hour))} {
		parts := []string{"totals {total sessions}", "series(zeroFill: false) {start total}", "perSubscriber {median}", "topSubscribers {total}", "topChanges {total}"}
		for _, by := range schema.Types["UsageDimension"].EnumValues {
			parts = append(parts, "breakdown(by: "+by.Name+") {value total}")
			if by.Name != "IP_ADDRESS" { // is known by the day only
				parts = append(parts, "seriesBy(by: "+by.Name+") {points {total}}")
			}
		}
		for _, part := range parts {
			all = append(all, fmt.Sprintf(span, part))
		}
	}
	return append(all, "company {fleet {total active barred online transferring}}", fmt.Sprintf("subscriberList(limit: 50, offset: %d) {items {physicalId}}", a.subscribers/2),
		"groups(first: 20) {nodes {usage {topSubscribers(first: 5) {total}}}}", "tags(first: 20) {nodes {usage {totals {total}}}}", "tags(first: 50) {totalCount nodes {numberOfSubscribers}}",
		"tags(first: 50) {nodes {subscribers(first: 5) {nodes {physicalId}}}}")
}

// listReads are the lists that an object has without further arguments: in each order, by each
// filter, and counted.
func listReads(schema *ast.Schema, of *ast.Definition, within string) (all []string) {
	for _, field := range of.Fields {
		if !strings.HasSuffix(field.Type.Name(), "Connection") || slices.ContainsFunc(field.Arguments, isNeeded) {
			continue
		}
		page := func(argument string) string {
			return fmt.Sprintf(within, fmt.Sprintf("%s(first: %d%s) {nodes {__typename}}", field.Name, pageOfReads, argument))
		}
		all = append(all, page(""), fmt.Sprintf(within, field.Name+"(first: 1) {totalCount}"))
		if order := field.Arguments.ForName("orderBy"); order != nil {
			for _, value := range schema.Types[schema.Types[order.Type.Name()].Fields.ForName("field").Type.Name()].EnumValues {
				all = append(all, page(", orderBy: [{field: "+value.Name+", direction: DESC}]"))
			}
		}
		if filter := field.Arguments.ForName("filter"); filter != nil {
			for _, condition := range schema.Types[filter.Type.Name()].Fields {
				if value := filterSamples[condition.Type.Name()]; value != "" {
					all = append(all, page(", filter: {"+condition.Name+": "+value+"}"))
				}
			}
		}
	}
	return all
}

// filterSamples are conditions by the type of their field: few rows hold, or all of those lately.
var filterSamples = map[string]string{
	"StringFilter": `{eq: "none"}`, "BigIntFilter": `{gt: "900000"}`, "IntFilter": `{gt: 3}`, "BooleanFilter": `{eq: true}`, "DateTimeFilter": `{gt: "2026-01-15T00:00:00Z"}`,
}

func isNeeded(argument *ast.ArgumentDefinition) bool {
	return argument.Type.NonNull && argument.DefaultValue == nil
}

// printReads prints the reads that are dear in the largest fleet, or grew with it.
func (a *answers) printReads(small, large []priced) error {
	of := map[string]float64{}
	for _, one := range small {
		of[one.name] = max(0, one.server+one.postgreSQL)
	}
	slices.SortFunc(large, func(x, y priced) int { return cmp.Compare(y.server+y.postgreSQL, x.server+x.postgreSQL) })
	fmt.Fprintf(a.out, "\n## Reads\n\n%d reads of %d subscribers. These take more than %d ms, or more than %d times what they take in the smallest fleet, and 2 ms.\n", len(large), a.subscribers, mostCPU/1000, grown)
	fmt.Fprintf(a.out, "\n| read | CPU, smallest fleet | CPU, ms | times |\n|---|--:|--:|--:|\n")
	for _, one := range large {
		cpu, before := one.server+one.postgreSQL, of[one.name]
		if a.all || cpu > mostCPU || cpu > leastCPU && cpu > grown*before {
			fmt.Fprintf(a.out, "| `%s` | %.1f | %.1f | %.1f |\n", one.name, before/1000, cpu/1000, cpu/max(before, 1))
		}
	}
	return nil
}
