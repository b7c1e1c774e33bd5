package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
	"simgraph/internal/telemetry"
)

// buffer is a log that may be written to from anywhere.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// lines are the lines of the log so far.
func (b *buffer) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for text := range strings.Lines(b.b.String()) {
		var line map[string]any
		fatal.If(t, json.Unmarshal([]byte(text), &line))
		lines = append(lines, line)
	}
	return lines
}

const secret = "s3cret-value"

// watched is a server that is observed. Its path /slow takes longer than
// what is logged as slow.
func watched(t *testing.T, cfg telemetry.Config) (*telemetry.Telemetry, *httptest.Server) {
	cfg.Endpoints = map[string]string{"/graphql": "graphql", "/usage/records": "usage", "/sources/": "sources", "/export/": "export"}
	cfg.Streams = []string{"usage", "export"}
	observed := telemetry.New(cfg)
	server := httptest.NewServer(observed.Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := domain.WithCaller(transport.WithRequestID(r.Context(), "req-1"), &domain.Caller{
			UserID: 7, Email: secret + "@acme.example", Credential: secret, Scope: domain.Scope{Company: 3},
		})
		observed.Admitted(ctx)
		if r.URL.Path != "/graphql" {
			observed.Routed(ctx, "GET /things/{id}")
		}
		if r.URL.Query().Has("abort") {
			panic(http.ErrAbortHandler)
		}
		ctx, done := observed.Operation(ctx, transport.Operation{Name: r.Header.Get("Operation"), Kind: ast.Query, Cost: 12, Deprecated: []string{"Query.old"}})
		if answered := observed.Statement(ctx, "SELECT 1\n  FROM things WHERE id = $1"); answered != nil {
			answered(errors.New(secret))
		}
		if strings.Contains(r.URL.Path, "slow") || r.URL.Path == "/usage/records" || strings.HasPrefix(r.URL.Path, "/export/") {
			time.Sleep(20 * time.Millisecond)
		}
		done(nil)
		w.WriteHeader(http.StatusTeapot)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "answer")
	})))
	t.Cleanup(server.Close)
	return observed, server
}

func get(t *testing.T, url string, header ...string) string {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

func jsonLog(level slog.Level) (*slog.Logger, *buffer) {
	b := new(buffer)
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: level})), b
}

func TestARequestIsALineWithoutAnythingPersonal(t *testing.T) {
	t.Parallel()
	log, out := jsonLog(slog.LevelDebug)
	_, server := watched(t, telemetry.Config{Log: log})
	get(t, server.URL+"/things/"+secret+"?q="+secret)
	lines := out.lines(t)
	if len(lines) != 1 {
		t.Fatal(lines)
	}
	for name, want := range map[string]any{
		"msg": "request", "level": "DEBUG", "door": "rest", "operation": "GET /things/{id}", "status": 418.0, "cost": 12.0,
		"user": 7.0, "company": 3.0, "method": "GET", "bytes": 6.0,
	} {
		if lines[0][name] != want {
			t.Errorf("%s is %v, want %v", name, lines[0][name], want)
		}
	}
	if text := fmt.Sprint(lines); strings.Contains(text, secret) {
		t.Errorf("the log contains secrets: %s", text)
	}
}

func TestWhatIsSlowIsLoggedWithItsStatements(t *testing.T) {
	t.Parallel()
	log, out := jsonLog(slog.LevelInfo)
	_, server := watched(t, telemetry.Config{Log: log, Slow: 10 * time.Millisecond})
	get(t, server.URL+"/fast")
	get(t, server.URL+"/usage/records")
	get(t, server.URL+"/export/usage")
	get(t, server.URL+"/slow")
	lines := out.lines(t)
	if len(lines) != 1 || lines[0]["msg"] != "slow request" || lines[0]["level"] != "WARN" {
		t.Fatal(lines)
	}
	statements := fmt.Sprint(lines[0]["statements"])
	if !strings.Contains(statements, "SELECT 1 FROM things WHERE id = $1") || strings.Contains(fmt.Sprint(lines), secret) {
		t.Error(lines)
	}
}

func TestTheStatementsOfARequestAreBounded(t *testing.T) {
	t.Parallel()
	log, out := jsonLog(slog.LevelInfo)
	observed := telemetry.New(telemetry.Config{Log: log, Slow: time.Nanosecond})
	handler := observed.Requests(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for range 1000 {
			observed.Statement(r.Context(), "SELECT "+strings.Repeat("x", 100_000))(nil)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	line := out.lines(t)[0]
	if list := line["statements"].([]any); len(list) != 50 || len(list[0].(string)) > 2_100 || line["moreStatements"] != 950.0 {
		t.Errorf("%d statements of %d bytes, %v more", len(list), len(list[0].(string)), line["moreStatements"])
	}
}

func TestAnOperationOfAWebSocketIsALineOfItsOwn(t *testing.T) {
	t.Parallel()
	log, out := jsonLog(slog.LevelDebug)
	_, server := watched(t, telemetry.Config{Log: log})
	get(t, server.URL+"/graphql", "Upgrade", "websocket", "Operation", "Fleet")
	lines := out.lines(t)
	if len(lines) != 2 || lines[0]["msg"] != "operation" || lines[0]["operation"] != "Fleet" || lines[0]["user"] != 7.0 || lines[1]["cost"] != 0.0 {
		t.Error(lines)
	}
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Admin().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	_, server := watched(t, telemetry.Config{Metrics: metrics})
	get(t, server.URL+"/things/1")
	get(t, server.URL+"/graphql", "Operation", "Fleet")
	get(t, server.URL+"/usage/records")
	get(t, server.URL+"/sources/src_1_x/records")
	get(t, server.URL+"/things/1?abort")
	text := scrape(t, metrics)
	for _, want := range []string{
		`simgraph_requests_total{door="rest",operation="GET /things/{id}",status="418"} 1`,
		`simgraph_requests_total{door="rest",operation="GET /things/{id}",status="none"} `,
		`simgraph_requests_total{door="graphql",operation="Fleet",status="418"} 1`,
		`simgraph_operations_total{door="graphql",kind="query",operation="Fleet",outcome="ok"} 1`,
		`simgraph_deprecated_uses_total{coordinate="Query.old",door="graphql"} 1`,
		`simgraph_operation_cost_sum{door="graphql"} 12`,
		`simgraph_request_duration_seconds_count{door="graphql",operation="Fleet"} 1`,
		`simgraph_requests_in_flight{door="rest"} 0`,
		`simgraph_request_duration_seconds_count{door="sources",operation=`,
		`simgraph_statement_duration_seconds_count 4`,
		`simgraph_build_info{version="v1"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, `simgraph_request_duration_seconds_count{door="usage"`) {
		t.Error("the length of a stream counts as latency")
	}
}

func TestClientsCannotMakeSeriesWithoutEnd(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	observed := telemetry.New(telemetry.Config{Metrics: metrics})
	for i := range 1000 {
		_, done := observed.Operation(t.Context(), transport.Operation{Name: fmt.Sprint("Q", i), Kind: ast.Query})
		done(gqlerror.List{{Extensions: map[string]any{"code": "INTERNAL_ERROR"}}})
	}
	_, done := observed.Operation(t.Context(), transport.Operation{Name: strings.Repeat("q", 1000), Kind: ast.Query})
	done(nil)
	text := scrape(t, metrics)
	if n := strings.Count(text, "simgraph_operations_total{"); n != 202 {
		t.Errorf("%d series", n)
	}
	if !strings.Contains(text, `operation="other",outcome="INTERNAL_ERROR"} 800`) {
		t.Error("what is beyond is not counted together")
	}
}

// waiting is a backlog with fixed values.
type waiting struct {
	domain.Backlog
	err error
	// reads counts the readings, each of which takes a while.
	reads int
	takes time.Duration
}

func (w *waiting) Read(context.Context) (domain.Backlog, error) {
	w.reads++
	time.Sleep(w.takes)
	return w.Backlog, w.err
}

func (w *waiting) Fired(context.Context, time.Time, time.Time) (int, error) { return 1, w.err }

func TestTheBacklogIsReadWhenItIsScraped(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	from := &waiting{Backlog: domain.Backlog{Mails: 4, OldestMail: time.Now().Add(-time.Hour), Watermark: time.Unix(1_800_000_000, 0)}}
	metrics.Register(telemetry.NewBacklog(from, slog.New(slog.DiscardHandler)))
	text := scrape(t, metrics)
	for _, want := range []string{"simgraph_outbox_mails 4", "simgraph_outbox_oldest_mail_seconds 3600.", "simgraph_usage_watermark_timestamp_seconds 1.8e+09", "simgraph_backlog_up 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	from.err = errors.New("away")
	// A reading that took long is reported for some time.
	for begun := time.Now(); !strings.Contains(text, "simgraph_backlog_up 0"); text = scrape(t, metrics) {
		if time.Since(begun) > time.Minute {
			t.Fatal("a backlog that cannot be read is up")
		}
	}
	if strings.Contains(text, "simgraph_outbox_mails") {
		t.Error("a backlog that cannot be read is reported")
	}
}

func TestWhatWaitsIsServedByQueueAndStep(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	from := &waiting{Backlog: domain.Backlog{Silences: 3, Evaluated: time.Unix(1_800_000_000, 0)}}
	from.Wait(domain.QueueQuarantine, domain.Waiting{Number: 7, Oldest: time.Now().Add(-time.Hour)})
	from.Pend(domain.StepMoves, 2)
	metrics.Register(telemetry.NewBacklog(from, slog.New(slog.DiscardHandler)))
	text := scrape(t, metrics)
	for _, want := range []string{
		`simgraph_waiting{queue="quarantine"} 7`, `simgraph_waiting_oldest_seconds{queue="quarantine"} 3600.`, `simgraph_usage_quarantined_records 7`,
		`simgraph_housekeeping_pending{step="moves"} 2`, `simgraph_silences_active 3`, `simgraph_conditions_evaluated_timestamp_seconds 1.8e+09`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, queue := range domain.Queues {
		if !strings.Contains(text, fmt.Sprintf("simgraph_waiting{queue=%q} ", queue)) {
			t.Errorf("%s is missing", queue)
		}
	}
	for _, step := range domain.Steps {
		if !strings.Contains(text, fmt.Sprintf("simgraph_housekeeping_pending{step=%q} ", step)) {
			t.Errorf("%s is missing", step)
		}
	}
}

// Scrapes that follow at once get what was read, so that a long backlog takes a twentieth
// of the time of a connection at most; ages grow meanwhile.
func TestABacklogThatTakesLongIsReadLessOften(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	from := &waiting{takes: 200 * time.Millisecond}
	from.Wait(domain.QueueMessages, domain.Waiting{Number: 1, Oldest: time.Now()})
	metrics.Register(telemetry.NewBacklog(from, slog.New(slog.DiscardHandler)))
	began := time.Now()
	scrapes := 0
	for ; time.Since(began) < time.Second; scrapes++ {
		scrape(t, metrics)
	}
	if most := 1 + int(time.Since(began)/(20*from.takes)); from.reads > most || scrapes < 3 {
		t.Errorf("%d readings for %d scrapes", from.reads, scrapes)
	}
}

func TestUsageIsCountedByWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1")
	metrics.Booked([]domain.UsageRecord{{EndedAt: time.Now().Add(-30 * time.Second)}, {}},
		[]domain.Recorded{{Status: domain.UsageAccepted}, {Status: domain.UsageDuplicate}}, time.Now())
	metrics.Batch(30)
	metrics.Mailed("sent")
	metrics.Refused("token_cost")
	text := scrape(t, metrics)
	for _, want := range []string{
		`simgraph_usage_records_total{status="accepted"} 1`, `simgraph_usage_delay_seconds_bucket{le="10"} 0`,
		`simgraph_usage_delay_seconds_bucket{le="60"} 1`, `simgraph_loader_batch_size_sum 30`, `simgraph_mails_total{result="sent"} 1`,
		`simgraph_refused_total{limit="token_cost"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestNothingIsBuiltInWhenNothingIsConfigured(t *testing.T) {
	t.Parallel()
	log, _ := jsonLog(slog.LevelInfo)
	observed := telemetry.New(telemetry.Config{Log: log})
	if observed.On() {
		t.Error("it is on")
	}
	if answered := observed.Statement(t.Context(), "SELECT 1"); answered != nil {
		t.Error("statements are followed")
	}
}

// TestTracesReachACollector is not parallel: the exporter reads the environment.
func TestTracesReachACollector(t *testing.T) {
	var mu sync.Mutex
	var spans []*tracepb.Span
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil || r.URL.Path != "/v1/traces" {
			t.Error(r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	defer sink.Close()
	environment := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": sink.URL}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.URL)
	tracer, stop, err := telemetry.NewTracer(t.Context(), func(name string) string { return environment[name] }, "v1")
	if err != nil || tracer == nil {
		t.Fatal(tracer, err)
	}
	_, server := watched(t, telemetry.Config{Tracer: tracer})
	get(t, server.URL+"/things/"+secret+"?q="+secret, "Operation", "Fleet", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	fatal.If(t, stop(t.Context()))
	mu.Lock()
	defer mu.Unlock()
	byName := map[string]*tracepb.Span{}
	for _, span := range spans {
		byName[span.Name] = span
		if fmt.Sprintf("%x", span.TraceId) != "0af7651916cd43dd8448eb211c80319c" || strings.Contains(span.String(), secret) {
			t.Errorf("%x %s", span.TraceId, span)
		}
	}
	request, operation, statement := byName["GET /things/{id}"], byName["query Fleet"], byName["SELECT"]
	if len(spans) != 3 || request == nil || operation == nil || statement == nil {
		t.Fatal(spans)
	}
	if !bytes.Equal(operation.ParentSpanId, request.SpanId) || !bytes.Equal(statement.ParentSpanId, operation.SpanId) {
		t.Error("the spans are not nested")
	}
}

func TestTracesAreOffUnlessTheEnvironmentConfiguresThem(t *testing.T) {
	t.Parallel()
	for _, environment := range []map[string]string{
		{}, {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"},
		{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"},
	} {
		tracer, _, err := telemetry.NewTracer(t.Context(), func(name string) string { return environment[name] }, "v1")
		if tracer != nil || err != nil {
			t.Error(environment, tracer, err)
		}
	}
	for _, environment := range []map[string]string{
		{"OTEL_TRACES_EXPORTER": "zipkin"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		if _, _, err := telemetry.NewTracer(t.Context(), func(name string) string { return environment[name] }, "v1"); err == nil {
			t.Error(environment, "is no error")
		}
	}
}
