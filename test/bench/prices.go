package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/pg"
	"simgraph/graph/generated"
)

const (
	// freeOperation costs nothing: what it takes is what every request takes.
	freeOperation = `{__typename}`
	// nominal is the CPU that a unit of price stands for at this size of a fleet, in microseconds,
	// and tenfold is how far that of a field may be above it.
	nominal, tenfold = 50.0, 10
	// leastCPU is what an operation may take whatever its price, in microseconds.
	leastCPU = 2000
)

// priced is what an operation took, in microseconds of CPU without those of a request that
// does nothing.
type priced struct {
	name               string
	cost               int
	server, postgreSQL float64
}

func (p priced) unit() float64 { return (p.server + p.postgreSQL) / float64(max(1, p.cost)) }

// runPrices measures the CPU of a unit of price over all fields of Query, one operation
// each, and fails for those that are far too cheap.
func runPrices(ctx context.Context, args []string) error {
	a := &answers{bench: &bench{out: os.Stdout}, groups: 500, connections: 1}
	flags := flag.NewFlagSet("bench prices", flag.ContinueOnError)
	flags.IntVar(&a.subscribers, "subscribers", 20_000, "number of subscribers")
	flags.IntVar(&a.records, "records", 500_000, "number of usage records")
	flags.DurationVar(&a.duration, "duration", time.Second, "how long each operation is repeated")
	flags.StringVar(&a.simgraph, "simgraph", "./simgraph", "the server's program")
	flags.StringVar(&a.only, "only", "", "measure only the fields whose name holds this")
	if err := flags.Parse(args); err != nil {
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
	if err := a.prepareFleet(ctx); err != nil {
		return err
	}
	started, err := startServer(ctx, a.simgraph, a.url)
	if err != nil {
		return err
	}
	defer started.stop()
	return a.prices(ctx, started)
}

// watches are made before anything is measured: alerts to be explained.
var watches = []string{
	`mutation {createAlert(input: {ruleType: COMPANY, lowerThreshold: "1000000", upperThreshold: "2000000"}) {alert {alertId}}}`,
	`mutation {createConditionAlert(input: {ruleType: COMPANY, condition: {silentHours: 24}}) {alert {alertId}}}`,
}

func (a *answers) prices(ctx context.Context, p *program) error {
	for _, mutation := range watches {
		if _, err := a.cost(ctx, p, mutation); err != nil {
			return err
		}
	}
	base, err := a.priced(ctx, p, "", freeOperation)
	if err != nil {
		return err
	}
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	asked := selector{types: schema.Types, samples: a.samples()}
	var all []priced
	for _, field := range schema.Query.Fields {
		if strings.HasPrefix(field.Name, "__") || !strings.Contains(field.Name, a.only) {
			continue
		}
		text, err := asked.field("", field, 4)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, field.Name)
		one, err := a.priced(ctx, p, field.Name, "{"+text+"}")
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		one.server, one.postgreSQL = max(0, one.server-base.server), max(0, one.postgreSQL-base.postgreSQL)
		all = append(all, one)
	}
	return a.printPrices(all, base)
}

// priced measures an operation.
func (a *answers) priced(ctx context.Context, p *program, name, query string) (priced, error) {
	cost, err := a.cost(ctx, p, query)
	w := &workload{token: a.token, Variants: []*variant{{Query: graphBody(query, nil)}}}
	f := a.load(ctx, p, w.request, 0)
	if err == nil && f.Failures > 0 {
		err = fmt.Errorf("%d requests failed", f.Failures)
	}
	return priced{name: name, cost: cost, server: f.Server, postgreSQL: f.PostgreSQL}, err
}

// cost sends an operation once, and returns its price.
func (a *answers) cost(ctx context.Context, p *program, query string) (int, error) {
	w := &workload{token: a.token, Variants: []*variant{{Query: graphBody(query, nil)}}}
	answer, err := http.DefaultClient.Do(w.request(p.address).WithContext(ctx))
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	var read struct {
		Errors     []struct{ Message string }
		Extensions struct{ Cost int }
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return 0, err
	}
	if len(read.Errors) > 0 {
		return 0, errors.New(read.Errors[0].Message)
	}
	return read.Extensions.Cost, nil
}

func (a *answers) printPrices(all []priced, base priced) error {
	units := make([]float64, len(all))
	for i, one := range all {
		units[i] = one.unit()
	}
	slices.Sort(units)
	middle := units[len(units)/2]
	slices.SortFunc(all, func(x, y priced) int { return cmp.Compare(y.unit(), x.unit()) })
	fmt.Fprintf(a.out, "\n## Prices\n\nA request that does nothing takes %.0f µs. A unit of price stands for %.0f µs; the median is %.1f µs.\n", base.server+base.postgreSQL, nominal, middle)
	fmt.Fprintf(a.out, "\n| field | price | CPU of the server, ms | CPU of PostgreSQL, ms | a unit, µs | beside what it stands for |\n|---|--:|--:|--:|--:|--:|\n")
	var cheap []string
	for _, one := range all {
		times := one.unit() / nominal
		fmt.Fprintf(a.out, "| `%s` | %d | %.2f | %.2f | %.1f | %.1f × |\n", one.name, one.cost, one.server/1000, one.postgreSQL/1000, one.unit(), times)
		if times > tenfold && one.server+one.postgreSQL > leastCPU {
			cheap = append(cheap, one.name)
		}
	}
	if len(cheap) > 0 {
		return fmt.Errorf("too cheap by more than %d times: %s", tenfold, strings.Join(cheap, ", "))
	}
	return nil
}

// samples are the arguments that are given, by field and name, by name alone or by type.
func (a *answers) samples() map[string]string {
	day := func(t time.Time) string { return `"` + t.Format(time.DateOnly) + `"` }
	id, watched := `"8944000000000000007"`, `ruleType: COMPANY, `
	return map[string]string{
		"first": "20", "limit": "20", "days": "28", "alertId": "1", "explainConditionAlert.alertId": "2", "physicalId": id,
		"startDate": day(a.month.Start), "endDate": day(a.month.End), "start": `"` + a.month.Start.Format(time.RFC3339) + `"`, "end": `"` + a.month.End.Format(time.RFC3339) + `"`,
		"name": `"csv"`, "profileName": `"csv"`, "tagName": `"tag 1"`, "breakdown.by": "SOURCE", "node.id": `"none"`, "nodes.ids": `["none"]`,
		"sample":                      `"id,iccid,endedAt,bytes\n1,` + strings.Trim(id, `"`) + `,2026-01-01T00:00:00Z,5\n"`,
		"previewAlert.input":          `{` + watched + `lowerThreshold: "1000000", upperThreshold: "2000000"}`,
		"previewConditionAlert.input": `{` + watched + `condition: {silentHours: 24}}`,
		"SourceProfileChoice":         `{name: "csv"}`, "SubscriberKey": `{physicalId: ` + id + `}`, "GroupKey": `{groupId: 7}`, "TagKey": `{name: "tag 1"}`,
		"OperatorKey": `{code: "23401"}`, "TariffKey": `{name: "Tariff 1"}`, "UserKey": `{email: "reader@bench.example"}`,
	}
}

// selector writes selections.
type selector struct {
	types   map[string]*ast.Definition
	samples map[string]string
}

// field returns a field with its arguments and all that costs something below it: leaves,
// values and the nodes of connections, but not what other nouns answer by themselves. It is
// "" where an argument is needed of which there is no sample, which is an error for roots.
func (k selector) field(parent string, of *ast.FieldDefinition, depth int) (string, error) {
	var args []string
	for _, argument := range of.Arguments {
		value, known := k.sample(of.Name, argument)
		switch {
		case known:
			args = append(args, argument.Name+": "+value)
		case argument.Type.NonNull && argument.DefaultValue == nil && parent == "":
			return "", fmt.Errorf("no sample for %s of %s", argument.Name, of.Name)
		case argument.Type.NonNull && argument.DefaultValue == nil:
			return "", nil
		}
	}
	text := of.Name
	if len(args) > 0 {
		text += "(" + strings.Join(args, ", ") + ")"
	}
	selected, err := k.selected(k.types[of.Type.Name()], depth)
	if selected == "" && err == nil && k.types[of.Type.Name()].IsCompositeType() {
		return "", nil
	}
	return text + selected, err
}

func (k selector) sample(field string, argument *ast.ArgumentDefinition) (value string, known bool) {
	for _, name := range []string{field + "." + argument.Name, argument.Name, argument.Type.Name()} {
		if value, known = k.samples[name]; known {
			return value, true
		}
	}
	if of := argument.Type.Name(); strings.HasSuffix(of, "Key") {
		return k.absent(of), true
	}
	return "", false
}

// absent is a key of an object that may not be there.
func (k selector) absent(key string) string {
	for _, field := range k.types[key].Fields {
		switch field.Type.Name() {
		case "String":
			return "{" + field.Name + `: "00000000-0000-0000-0000-000000000000"}`
		case "Int", "BigInt":
			return "{" + field.Name + ": 1}"
		}
	}
	return "{}"
}

func (k selector) selected(of *ast.Definition, depth int) (string, error) {
	switch {
	case !of.IsCompositeType():
		return "", nil
	case of.IsAbstractType():
		return "{__typename}", nil
	case depth == 0:
		return "", nil
	}
	var all []string
	for _, child := range of.Fields {
		kind := k.types[child.Type.Name()]
		if child.Name == "edges" || slices.Contains(kind.Interfaces, "Node") && child.Name != "nodes" && child.Name != "items" {
			continue
		}
		text, err := k.field(of.Name, child, depth-1)
		if err != nil {
			return "", err
		}
		if text != "" {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return " {" + strings.Join(all, " ") + "}", nil
}
