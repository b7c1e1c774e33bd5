package transport_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
	"simgraph/internal/fatal"
)

func TestInternalErrorsAreMaskedAndLogged(t *testing.T) {
	b := newBench(t, nil)
	for _, query := range []string{`{fail(kind:"secret")}`, `{panic}`, `{items(first:1){nodes{broken}}}`, `{failures(times:1)}`} {
		got := b.query(query, "")
		if strings.Contains(got.body, testschema.Secret) || got.codes() != "INTERNAL_ERROR" {
			t.Errorf("%s: %s", query, got.body)
		}
		if !strings.Contains(got.body, `"requestId":"req-1"`) {
			t.Errorf("%s: no request id: %s", query, got.body)
		}
	}
	for _, want := range []string{testschema.Secret, "requestId=req-1", "a resolver panicked", "stack="} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}

func TestAPanicIsLoggedOnce(t *testing.T) {
	b := newBench(t, nil)
	b.query(`{panic}`, "")
	if lines := strings.Count(b.log.String(), "level="); lines != 1 {
		t.Error(b.log.String())
	}
}

func TestPublicErrorsNameTheirFieldAndCode(t *testing.T) {
	b := newBench(t, nil)
	want := `{"errors":[{"message":"no such kind","path":["a"],"locations":[{"line":1,"column":2}],` +
		`"extensions":{"code":"INVALID_PARAMETER","requestId":"req-1"}}],"data":{"a":null,"hello":"world"},"extensions":{"cost":0}}`
	if got := b.query(`{a:fail(kind:"invalid") hello}`, ""); got.status != 200 || got.body != want {
		t.Errorf("got %s\nwant %s", got.body, want)
	}
	got := b.query(`{fail(kind:"wrapped")}`, "")
	if got.codes() != "FORBIDDEN" || strings.Contains(got.body, testschema.Secret) {
		t.Error(got)
	}
}

func TestErrorsWithoutPresentAreAllMasked(t *testing.T) {
	b := newBench(t, func(c *transport.Config) { c.Present = nil })
	if got := b.query(`{fail(kind:"invalid")}`, ""); got.codes() != "INTERNAL_ERROR" {
		t.Error(got)
	}
}

func TestAnAnswerShowsTwentyErrors(t *testing.T) {
	b := newBench(t, nil)
	got := b.query(`{failures(times:1000)}`, "")
	if n := len(strings.Fields(got.codes())); n != 20 {
		t.Errorf("%d errors", n)
	}
	if lines := strings.Count(b.log.String(), "level="); lines != 20 {
		t.Errorf("%d lines in the log", lines)
	}
	var fields strings.Builder
	for range 40 {
		fields.WriteString(" " + strings.Repeat("x", 400) + "{" + strings.Repeat("y", 100) + "}")
	}
	if got := b.query("{"+fields.String()+"}", ""); len(strings.Fields(got.codes())) != 20 || len(got.body) > 20*1400 {
		t.Errorf("%d errors in %d bytes: %.300s", len(strings.Fields(got.codes())), len(got.body), got.body)
	}
}

func TestAMessageHasAtMostAThousandBytes(t *testing.T) {
	b := newBench(t, nil)
	got := b.query("{"+strings.Repeat("x", 5000)+"}", "")
	if got.codes() != "GRAPHQL_VALIDATION_FAILED" || len(got.body) > 1200 || !strings.Contains(got.body, "…") {
		t.Error(len(got.body), got.body)
	}
}

func TestEachResponseHasItsOwnContext(t *testing.T) {
	var responses atomic.Int32
	b := newBench(t, func(c *transport.Config) {
		c.PerResponse = func(ctx context.Context) context.Context {
			return testschema.WithResponse(ctx, responses.Add(1))
		}
	})
	for _, want := range []string{`{"responses":1}`, `{"responses":2}`} {
		if got := b.query("{responses}", ""); got.data() != want {
			t.Error(got)
		}
	}
	b.do("POST", b.url, `{"query":"subscription{count(to:3)}"}`, "Content-Type", "application/json", "Accept", "text/event-stream")
	// Three events, and the response that found the end.
	if responses.Load() != 6 {
		t.Error(responses.Load())
	}
}

func TestLoadersAreClearedAfterEachRootFieldOfAMutation(t *testing.T) {
	var cleared atomic.Int32
	b := newBench(t, func(c *transport.Config) {
		c.AfterRootMutationField = func(context.Context) { cleared.Add(1) }
	})
	b.query("{hello}", "")
	b.query("mutation{a:increment b:increment}", "")
	if cleared.Load() != 2 {
		t.Error(cleared.Load())
	}
}

func TestTooCostlyIsRefusedBeforeItRuns(t *testing.T) {
	b := newBench(t, nil)
	got := b.query(`query($n:Int){items(first:$n){nodes{related(first:$n){nodes{related(first:$n){nodes{id}}}}}}}`, `{"n":100}`)
	if got.codes() != "COST_LIMIT_EXCEEDED" || got.data() != "" {
		t.Error(got)
	}
}

func TestThrottlingTellsWhenToComeBack(t *testing.T) {
	var charged atomic.Int32
	b := newBench(t, func(c *transport.Config) {
		c.Charge = func(_ context.Context, cost int) error {
			charged.Add(int32(cost))
			if cost > 4 {
				return &domain.Error{Kind: domain.KindRateLimited, RetryAfter: 1500 * time.Millisecond}
			}
			return nil
		}
	})
	if got := b.query("{items(first:3){nodes{id}}}", ""); got.status != 200 || charged.Load() != 4 {
		t.Error(got, charged.Load())
	}
	for _, media := range []string{"application/json", "application/graphql-response+json"} {
		got := b.post(`{"query":"{items(first:9){nodes{id}}}"}`, "Accept", media)
		if got.status != 429 || got.header.Get("Retry-After") != "2" || got.codes() != "THROTTLED" || !strings.Contains(got.body, `"retryAfter":2`) {
			t.Error(got)
		}
	}
}

func TestAChargeThatFailsIsMasked(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Charge = func(context.Context, int) error { return errors.New(testschema.Secret) }
	})
	if got := b.query("{hello}", ""); got.codes() != "INTERNAL_ERROR" || strings.Contains(got.body, testschema.Secret) {
		t.Error(got)
	}
}

func TestAHiddenSchemaIsNeitherShownNorSuggested(t *testing.T) {
	b := newBench(t, func(c *transport.Config) { c.HideSchema = true })
	for _, query := range []string{"{__schema{queryType{name}}}", `{__type(name:"Item"){name}}`, "{helo}", "{hello{a}}", "{hello(x:1)}"} {
		got := b.query(query, "")
		if !strings.HasPrefix(got.codes(), "GRAPHQL_VALIDATION_FAILED") || strings.Contains(got.body, "Did you mean") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	if got := b.query("{__typename}", ""); got.data() != `{"__typename":"Query"}` {
		t.Error(got)
	}
}

func TestAPreparedOperationRunsInProcess(t *testing.T) {
	b := newBench(t, nil)
	run, err := b.engine.Prepare("query($n:Int!,$c:[Color!]){integer(value:$n) filter(value:{colors:$c})}")
	fatal.If(t, err)
	ctx := transport.WithRequestID(t.Context(), "req-2")
	resp := run(ctx, map[string]any{"n": 3, "c": []any{"RED"}})
	want := `{"integer":"[3,4]","filter":"{\"name\":null,\"size\":7,\"colors\":[\"RED\"],\"and\":null,\"choice\":null}"}`
	if string(resp.Data) != want || resp.Errors != nil {
		t.Errorf("%s %v", resp.Data, resp.Errors)
	}
	resp = run(ctx, map[string]any{"n": "3"})
	if resp.Data != nil || len(resp.Errors) != 1 || resp.Errors[0].Extensions["requestId"] != "req-2" {
		t.Errorf("%s %v", resp.Data, resp.Errors)
	}
}

func TestHooksThatPanicAreMasked(t *testing.T) {
	for _, hook := range []func(*transport.Config){
		func(c *transport.Config) { c.Charge = func(context.Context, int) error { panic(testschema.Secret) } },
		func(c *transport.Config) {
			c.PerResponse = func(context.Context) context.Context { panic(testschema.Secret) }
		},
		func(c *transport.Config) {
			c.AfterRootMutationField = func(context.Context) { panic(testschema.Secret) }
		},
	} {
		b := newBench(t, hook)
		w := b.ready()
		w.send(`{"type":"subscribe","id":"1","payload":{"query":"mutation{increment}"}}`)
		w.expect("INTERNAL_ERROR")
		for _, got := range []reply{b.query("mutation{increment}", ""), b.events("mutation{increment}")} {
			if !strings.Contains(got.body, "INTERNAL_ERROR") || strings.Contains(got.body, testschema.Secret) {
				t.Error(got)
			}
		}
	}
}

func TestExtensionsOfResolversStandBesideTheCost(t *testing.T) {
	b := newBench(t, nil)
	if got := b.query("{extended}", ""); !strings.HasSuffix(got.body, `"extensions":{"cost":0,"seen":true}}`) {
		t.Error(got)
	}
}

func TestSkippedFieldsAreLeftOut(t *testing.T) {
	b := newBench(t, nil)
	got := b.query("query($no:Boolean!){hello@include(if:$no) a:hello@skip(if:false)}", `{"no":false}`)
	if got.data() != `{"a":"world"}` {
		t.Error(got)
	}
}

func TestOnlyTheDocumentsUsedLastAreRemembered(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Limits = transport.DefaultLimits()
		c.Limits.Documents = 3
	})
	for i := range 10 {
		b.query("{hello}", "")
		b.query(fmt.Sprintf("{a%d:hello}", i), "")
	}
	if n := b.engine.Remembered(); n != 3 {
		t.Errorf("%d documents", n)
	}
	b = newBench(t, nil)
	for i := range 50 {
		b.query(fmt.Sprintf("{a%d:hello}#%s", i, strings.Repeat("x", 60_000)), "")
	}
	if n := b.engine.Remembered(); n < 20 || n > 40 {
		t.Errorf("%d documents of 60 kB", n)
	}
}

func TestPrepareRefusesWhatCannotRun(t *testing.T) {
	b := newBench(t, nil)
	for _, text := range []string{
		"", "{", "{nope}", "query A{hello} query B{hello}", "subscription{forever}", "{...F} fragment F on Query{...F}",
		`{text(value:"\ud800")}`,
	} {
		if _, err := b.engine.Prepare(text); err == nil {
			t.Errorf("%s was prepared", text)
		}
	}
	if _, err := b.engine.Prepare("{" + strings.Repeat(" a:hello b:hello c:hello", 100) + "}"); err != nil {
		t.Error(err)
	}
}

func TestDeferIsNotInTheSchema(t *testing.T) {
	b := newBench(t, nil)
	if got := b.query("{__schema{directives{name}}}", ""); strings.Contains(got.body, "defer") {
		t.Error(got)
	}
}

func BenchmarkPreparedPage(b *testing.B) {
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{})
	run, err := engine.Prepare("query($n:Int){items(first:$n){nodes{id name size at big tags}}}")
	fatal.If(b, err)
	for b.Loop() {
		run(b.Context(), map[string]any{"n": 1})
	}
}
