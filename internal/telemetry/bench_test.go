package telemetry_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/telemetry"
)

// statementsOf is how many statements a request of the benchmark runs, as the
// page of subscribers with groups and tags does.
const statementsOf = 3

// nowhere is an answer that nobody reads.
type nowhere struct{ header http.Header }

func (w nowhere) Header() http.Header                  { return w.header }
func (nowhere) Write(b []byte) (int, error)            { return len(b), nil }
func (nowhere) WriteHeader(int)                        {}
func (w nowhere) send(h http.Handler, r *http.Request) { h.ServeHTTP(w, r) }

// endpoint follows an operation with its statements, as the server is wired: what is
// off is not built in.
func endpoint(cfg telemetry.Config) http.Handler {
	cfg.Endpoints = map[string]string{"/graphql": "graphql"}
	observed := telemetry.New(cfg)
	caller := &domain.Caller{UserID: 7, Scope: domain.Scope{Company: 3}}
	body := []byte(`{"data":{}}`)
	return observed.Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := domain.WithCaller(r.Context(), caller)
		if observed.On() {
			observed.Admitted(ctx)
			ctx, ended := observed.Operation(ctx, transport.Operation{Name: "Fleet", Kind: ast.Query, Cost: 12})
			for range statementsOf {
				if answered := observed.Statement(ctx, "SELECT s.physical_id FROM subscribers s WHERE s.company_id = $1"); answered != nil {
					answered(nil)
				}
			}
			ended(nil)
		}
		_, _ = w.Write(body)
	}))
}

func tracer(b *testing.B) trace.Tracer {
	b.Helper()
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()))
	b.Cleanup(func() { _ = provider.Shutdown(b.Context()) })
	return provider.Tracer("simgraph")
}

func logTo(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: level}))
}

// BenchmarkRequest measures what it costs a request of three statements to be
// observed: docs/benchmarks.md has the figures.
func BenchmarkRequest(b *testing.B) {
	for _, mode := range []struct {
		name string
		cfg  func(b *testing.B) telemetry.Config
	}{
		{"off", func(*testing.B) telemetry.Config { return telemetry.Config{Log: logTo(slog.LevelInfo)} }},
		{"slow log", func(*testing.B) telemetry.Config {
			return telemetry.Config{Log: logTo(slog.LevelInfo), Slow: time.Second}
		}},
		{"every request logged", func(*testing.B) telemetry.Config { return telemetry.Config{Log: logTo(slog.LevelDebug)} }},
		{"metrics", func(*testing.B) telemetry.Config {
			return telemetry.Config{Log: logTo(slog.LevelInfo), Metrics: telemetry.NewMetrics("test")}
		}},
		{"traces", func(b *testing.B) telemetry.Config {
			return telemetry.Config{Log: logTo(slog.LevelInfo), Tracer: tracer(b)}
		}},
		{"all", func(b *testing.B) telemetry.Config {
			return telemetry.Config{Log: logTo(slog.LevelDebug), Slow: time.Second, Metrics: telemetry.NewMetrics("test"), Tracer: tracer(b)}
		}},
	} {
		b.Run(mode.name, func(b *testing.B) {
			handler, w := endpoint(mode.cfg(b)), nowhere{http.Header{}}
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/graphql", nil)
			b.ReportAllocs()
			for b.Loop() {
				w.send(handler, r)
			}
		})
	}
}

// What is off adds nothing to a request, not even an allocation.
func TestWhatIsOffCostsNothing(t *testing.T) {
	w, r := nowhere{http.Header{}}, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", nil)
	allocations := func(handler http.Handler) float64 {
		return testing.AllocsPerRun(1000, func() { w.send(handler, r) })
	}
	caller, body := &domain.Caller{UserID: 7}, []byte(`{"data":{}}`)
	bare := allocations(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = domain.WithCaller(r.Context(), caller)
		_, _ = w.Write(body)
	}))
	if got := allocations(endpoint(telemetry.Config{Log: logTo(slog.LevelInfo)})); got != bare {
		t.Errorf("%v allocations instead of %v", got, bare)
	}
	// Without a tracer, what makes spans is nothing even where metrics are on.
	observed := telemetry.New(telemetry.Config{Metrics: telemetry.NewMetrics("test")})
	a, answered := telemetry.NewSpans()
	if n := testing.AllocsPerRun(1000, func() { observed.Spans(r, a, answered) }); n != 0 {
		t.Errorf("spans that nobody wants allocate %v times", n)
	}
}
