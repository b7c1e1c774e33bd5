package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/graph/engine/transport"
)

// NewTracer returns the tracer that the standard OTEL_* variables configure: one
// that sends to an OTLP collector over HTTP, or nil when they name none. Call
// stop to send what is left.
func NewTracer(ctx context.Context, getenv func(string) string, version string) (tracer trace.Tracer, stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	wanted, err := tracesWanted(getenv)
	if err != nil || !wanted {
		return nil, stop, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, stop, err
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "simgraph"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, stop, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return provider.Tracer("simgraph"), provider.Shutdown, nil
}

// tracesWanted reads the variables that the SDK leaves to the program.
func tracesWanted(getenv func(string) string) (bool, error) {
	if ascii.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "otlp":
	case "":
		if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
			return false, nil
		}
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER must be otlp or none, not %q", exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := getenv(name); protocol != "" && protocol != "http/protobuf" {
			return false, fmt.Errorf("%s must be http/protobuf, not %q", name, protocol)
		}
	}
	return true, nil
}

// nothing is the span of what is not traced.
var nothing = trace.SpanFromContext(context.Background())

var incoming = propagation.TraceContext{}

func (t *Telemetry) traceRequest(ctx context.Context, r *http.Request) (context.Context, trace.Span) {
	if t.Tracer == nil {
		return ctx, nothing
	}
	ctx = incoming.Extract(ctx, propagation.HeaderCarrier(r.Header))
	return t.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method),
		attribute.String("simgraph.request_id", transport.RequestID(ctx))))
}

func (t *Telemetry) traceCaller(ctx context.Context, caller *domain.Caller) {
	if t.Tracer != nil {
		trace.SpanFromContext(ctx).SetAttributes(
			attribute.Int64("simgraph.company", int64(caller.Scope.Company)), attribute.Int64("simgraph.user", caller.UserID))
	}
}

func (t *Telemetry) endRequest(span trace.Span, method string, a *activity, w *recorder) {
	if !span.IsRecording() {
		return
	}
	a.mu.Lock()
	operation, cost := a.operation, a.cost
	a.mu.Unlock()
	route := strings.TrimPrefix(operation, method+" ")
	span.SetName(strings.TrimSpace(method + " " + route))
	span.SetAttributes(attribute.String("simgraph.door", a.endpoint), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", w.status), attribute.Int("simgraph.cost", cost))
	if w.status >= http.StatusInternalServerError || w.status == 0 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

func (t *Telemetry) traceOperation(ctx context.Context, op transport.Operation) (context.Context, trace.Span) {
	if t.Tracer == nil {
		return ctx, nothing
	}
	return t.Tracer.Start(ctx, strings.TrimSpace(string(op.Kind)+" "+op.Name), trace.WithAttributes(
		attribute.String("graphql.operation.name", op.Name), attribute.String("graphql.operation.type", string(op.Kind)),
		attribute.Int("simgraph.cost", op.Cost)))
}

func endOperation(span trace.Span, code string) {
	if code != "" && span.IsRecording() {
		span.SetStatus(codes.Error, code)
	}
	span.End()
}

// traceStatement makes a span below one that is recorded: what runs beside
// requests, such as the upkeep, is no trace of its own.
func (t *Telemetry) traceStatement(ctx context.Context, query string) trace.Span {
	if t.Tracer == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return nothing
	}
	words := strings.Fields(query)
	name := "statement"
	if len(words) > 0 {
		name = words[0]
	}
	_, span := t.Tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.system.name", "postgresql"),
		attribute.String("db.query.text", strings.Join(words, " "))))
	return span
}

func endStatement(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		// The text of an error may hold a value.
		span.SetStatus(codes.Error, "the statement failed")
	}
	span.End()
}
