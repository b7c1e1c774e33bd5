package resolvers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/transport"
	"simgraph/graph/generated"
	"simgraph/graph/plan"
	"simgraph/internal/fatal"
	"simgraph/resolvers"
)

// pair answers operations by the plan and by gqlgen's executor.
type pair struct {
	*stack
	planned, plain *transport.Server
	schema         *ast.Schema
	catalogue      *faultyCatalogue
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{stack: newStack(t)}
	p.catalogue = &faultyCatalogue{Catalogue: p.ports.Catalogue}
	p.ports.Catalogue, p.ports.Tags = p.catalogue, &faultyTags{p.ports.Tags, p.catalogue}
	p.ports.Subscribers = &faultySubscribers{p.ports.Subscribers, p.catalogue}
	quiet := slog.New(slog.DiscardHandler)
	unlimited := transport.DefaultLimits()
	unlimited.Limits = guard.Unlimited()
	p.planned = engineOn(p.ports, transport.Config{Log: quiet, Limits: unlimited})
	p.plain = engineOn(p.ports, transport.Config{Log: quiet, Unplanned: true})
	p.schema = resolvers.New(p.ports, clock).Schema().Schema()
	return p
}

// faultySubscribers panics in a method that a resolver calls itself, and in one of a loader.
type faultySubscribers struct {
	domain.Subscribers
	faults *faultyCatalogue
}

func (f *faultySubscribers) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	if f.faults.fault == "panic" {
		panic("the fleet cannot be counted")
	}
	return f.Subscribers.Count(ctx, scope, listing)
}

func (f *faultySubscribers) Fleet(ctx context.Context, scope domain.Scope) (domain.FleetCounts, error) {
	if f.faults.fault == "panic" {
		panic("the fleet is on fire")
	}
	return f.Subscribers.Fleet(ctx, scope)
}

// faultyCatalogue does what a store should not.
type faultyCatalogue struct {
	domain.Catalogue
	fault string
}

// faultyTags does so in a method of a loader.
type faultyTags struct {
	domain.Tags
	faults *faultyCatalogue
}

func (f *faultyTags) NumberOf(ctx context.Context, scope domain.Scope, subscribers []int64) (map[int64]int, error) {
	switch f.faults.fault {
	case "nothing":
		return nil, nil
	case "panic":
		panic("the tags are on fire")
	case "internal":
		return nil, errors.New("the tags are lost")
	case "public":
		return nil, domain.Invalid("tag", "the tags cannot be counted")
	}
	return f.Tags.NumberOf(ctx, scope, subscribers)
}

// Operators holds an item that is none.
func (f *faultyCatalogue) Operators(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Operator], error) {
	operators, err := f.Catalogue.Operators(ctx, scope, listing)
	if f.fault == "nothing" && len(operators.Items) > 0 {
		operators.Items[len(operators.Items)/2] = nil
	}
	return operators, err
}

// callers are the administrator, and others who may do or see less.
func (p *pair) callers() map[string]*domain.Caller {
	restricted, poor, monitor := *p.caller, *p.caller, *p.caller
	restricted.Scope.Groups = p.someGroups()
	restricted.Scope.Masked = restricted.Scope.Groups[:1]
	poor.Permissions = nil
	monitor.Permissions = []domain.Permission{domain.ViewSubscriber}
	return map[string]*domain.Caller{"admin": p.caller, "restricted": &restricted, "poor": &poor, "monitor": &monitor}
}

func (p *pair) someGroups() []int64 {
	var groups []int64
	if err := p.pool.Select(&groups, "SELECT group_id FROM groups ORDER BY group_id LIMIT 3"); err != nil {
		panic(err)
	}
	return groups
}

// emptyText is what no answer holds: a text without a value is null.
const emptyText = `:""`

// differ runs a query both ways and returns how the answers differ, or that they hold an empty text.
func (p *pair) differ(ctx context.Context, query string, variables map[string]any) string {
	plain, err := p.plain.Prepare(query)
	if err != nil {
		return "invalid: " + err.Error()
	}
	want := answered(plain(ctx, variables))
	got := p.posted(ctx, query, variables)
	if got == want && !strings.Contains(got, emptyText) {
		return ""
	}
	values, _ := json.Marshal(variables)
	return fmt.Sprintf("%s\n%s\nplanned %s\nplain   %s", query, values, got, want)
}

// shown is how many errors an answer has at most. Which of more are shown is
// left to chance.
const shown = 20

// answered is what two responses to the same operation have in common.
func answered(resp *graphql.Response) string {
	var errs []json.RawMessage
	for _, err := range resp.Errors {
		text, _ := json.Marshal(err)
		errs = append(errs, text)
	}
	return together(resp.Data, errs)
}

func together(data json.RawMessage, errs []json.RawMessage) string {
	slices.SortFunc(errs, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	if len(errs) >= shown {
		errs = errs[:0]
	}
	return fmt.Sprintf("%s %s", data, errs)
}

// posted is answered for an operation that comes over HTTP.
func (p *pair) posted(ctx context.Context, query string, variables map[string]any) string {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err.Error()
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.planned.ServeHTTP(w, r)
	var resp struct {
		Data   json.RawMessage
		Errors []json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &resp); err != nil {
		return err.Error() + ": " + w.Body.String()
	}
	return together(resp.Data, resp.Errors)
}

// TestPlannedAnswersAreThoseOfGqlgen compares both ways to answer over random
// operations on the whole schema. What fails prints its seed.
func TestPlannedAnswersAreThoseOfGqlgen(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.compare(t, p.callers(), p.harvest(t), dbtest.NewBudget(t).Seeds(60, 600))
}

// compare runs the random operations of the seeds, as each of the callers.
func (p *pair) compare(t *testing.T, callers map[string]*domain.Caller, known map[string][]any, seeds iter.Seq[uint64]) {
	t.Helper()
	failed := 0
	for seed := range seeds {
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			a := &author{Rand: rand.New(rand.NewPCG(seed, 1)), schema: p.schema, known: known, most: 4}
			query, variables := a.query()
			if difference := p.differ(domain.WithCaller(t.Context(), callers[name]), query, variables); difference != "" {
				t.Errorf("seed %d as %s: %s", seed, name, difference)
				if failed++; failed > 3 {
					t.FailNow()
				}
			}
		}
	}
}

// TestPlannedErrorsAreThoseOfGqlgen compares while the database lacks a table,
// one after the other, and while a store misbehaves.
func TestPlannedErrorsAreThoseOfGqlgen(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	known := p.harvest(t)
	ctx, admin := domain.WithCaller(t.Context(), p.caller), map[string]*domain.Caller{"admin": p.caller}
	var tables []string
	err := p.pool.Select(&tables, `SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`)
	fatal.If(t, err)
	for i, table := range tables {
		t.Run("without "+table, func(t *testing.T) {
			p.pool.MustExec("ALTER TABLE " + table + " RENAME TO lost")
			defer p.pool.MustExec("ALTER TABLE lost RENAME TO " + table)
			p.compare(t, admin, known, some(i))
		})
	}
	for _, fault := range []string{"nothing", "panic", "internal", "public"} {
		t.Run("a store does "+fault, func(t *testing.T) {
			p.catalogue.fault = fault
			defer func() { p.catalogue.fault = "" }()
			p.compare(t, admin, known, dbtest.NewBudget(t).Seeds(20, 60))
			for _, query := range atFaults {
				if difference := p.differ(ctx, query, nil); difference != "" {
					t.Error(difference)
				}
			}
		})
	}
}

// some are the seeds of the operations without the i-th table: each table has others,
// and in a nightly run it has all.
func some(i int) iter.Seq[uint64] {
	const all, each = 40, 10
	return func(yield func(uint64) bool) {
		for n := range uint64(all) {
			if seed := (n + uint64(i*each)) % all; (n >= each && !dbtest.Nightly()) || !yield(seed) {
				return
			}
		}
	}
}

// atFaults reach the faulty store on every way.
var atFaults = []string{
	`{subscribers(first: 3) {nodes {physicalId numberOfTags}}}`,
	`{subscribers(first: 3) {edges {node {nickname a: numberOfTags b: numberOfTags}}}}`,
	`{groups(first: 2) {nodes {subscribers(first: 2) {nodes {numberOfTags tags {name}}}}}}`,
	`{subscribers(first: 9) {nodes {profiles {numberOfTags}}}}`,
	`{operators {nodes {code name __typename}}}`,
	`{operators(first: 1) {pageInfo {hasNextPage} nodes {n: name}}}`,
	`{subscribers(first: 2) {totalCount nodes {nickname}} subscriberList(limit: 1) {totalCount items {nickname}}}`,
	`{company {name fleet {total} currentPeriod {startsAt}} viewer {company {fleet {active}}}}`,
}

func TestPlannedMutationsAnswerAsGqlgenDoes(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	ctx := domain.WithCaller(t.Context(), p.caller)
	id := p.harvest(t)["physicalId"][0]
	for _, query := range []string{
		`mutation($id: String!) {editSubscriber(input: {physicalId: $id, nickname: "n"}) {subscriber {nickname tags {name} group {name}}}}`,
		`mutation($id: String!) {a: editSubscriber(input: {physicalId: $id, nickname: "1"}) {subscriber {nickname}}
		  b: editSubscriber(input: {physicalId: $id, nickname: "2"}) {subscriber {nickname numberOfTags}}}`,
		`mutation {editSubscriber(input: {physicalId: "none", nickname: "n"}) {subscriber {nickname}}}`,
	} {
		if difference := p.differ(ctx, query, map[string]any{"id": id}); difference != "" {
			t.Error(difference)
		}
	}
}

// harvest reads values to use in arguments.
func (p *pair) harvest(t *testing.T) map[string][]any {
	t.Helper()
	known, wanted := map[string][]any{}, []string{"physicalId", "id", "cursor", "name"}
	isMissing := func(name string) bool { return len(known[name]) == 0 }
	for seed := range uint64(600) {
		if seed >= 150 && !slices.ContainsFunc(wanted, isMissing) {
			break
		}
		a := &author{Rand: rand.New(rand.NewPCG(seed, 2)), schema: p.schema, most: 5}
		query, variables := a.query()
		run, err := p.plain.Prepare(query)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		resp := run(domain.WithCaller(t.Context(), p.caller), variables)
		var data any
		decoder := json.NewDecoder(bytes.NewReader(resp.Data))
		decoder.UseNumber() // as the variables of requests are read
		if decoder.Decode(&data) == nil {
			gather(known, "", data)
		}
	}
	for _, name := range wanted {
		if isMissing(name) {
			t.Fatalf("no value of %s was found", name)
		}
	}
	return known
}

// gather notes the leaves of an answer by the names of their fields.
func gather(known map[string][]any, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			gather(known, key[strings.Index(key, "_")+1:], value[key])
		}
	case []any:
		for _, item := range value {
			gather(known, name, item)
		}
	case string, json.Number:
		if len(known[name]) < 50 && !slices.Contains(known[name], value) {
			known[name] = append(known[name], value)
		}
	}
}

// No transport delivers the later parts of @defer, and servers that share the schema only read
// it: the generated package removes the directive before there is a server.
func TestTheSchemaHasNoDefer(t *testing.T) {
	t.Parallel()
	if generated.NewExecutableSchema(generated.Config{}).Schema().Directives["defer"] != nil {
		t.Error("the schema has @defer")
	}
}

// TestEveryFieldIsPlanned fails when plan.generated.go is older than the schema.
func TestEveryFieldIsPlanned(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{})
	planned := schema.(plan.Executable).Plan()
	for name, object := range schema.Schema().Types {
		if object.Kind != ast.Object || name[0] == '_' || object == schema.Schema().Query ||
			object == schema.Schema().Mutation || object == schema.Schema().Subscription {
			continue
		}
		for _, field := range object.Fields {
			if planned.Objects[name] == nil || planned.Objects[name].Fields[field.Name] == nil {
				t.Errorf("%s.%s has no plan: write graph/generated anew", name, field.Name)
			}
		}
	}
}
