package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain/ascii"
	"simgraph/graph/engine/transport"
)

// The endpoints without a path of their own.
const (
	endpointREST      = "rest"
	endpointWebSocket = "websocket"
)

// recorder remembers how a request was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// text is the status for metrics; a request that was cut off may have none.
func (r *recorder) text() string {
	if r.status == 0 {
		return "none"
	}
	return strconv.Itoa(r.status)
}

// Requests follows each request. The request has its id by then.
func (t *Telemetry) Requests(next http.Handler) http.Handler {
	if !t.On() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := t.begin(r)
		ctx, span := t.traceRequest(a.in(r.Context()), r)
		answered := &recorder{ResponseWriter: w}
		t.Metrics.enter(a.endpoint)
		// A handler that gives up on a connection panics.
		defer func() {
			took := time.Since(a.began)
			t.Metrics.answered(a, answered, took)
			t.endRequest(span, r.Method, a, answered)
			t.logRequest(ctx, r.Method, a, answered, took)
		}()
		next.ServeHTTP(answered, r.WithContext(ctx))
	})
}

func (t *Telemetry) begin(r *http.Request) *activity {
	endpoint := t.endpoint(r)
	return &activity{
		endpoint: endpoint, stream: endpoint == endpointWebSocket || slices.Contains(t.Streams, endpoint), requestID: transport.RequestID(r.Context()), began: time.Now(),
	}
}

func (t *Telemetry) endpoint(r *http.Request) string {
	if ascii.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return endpointWebSocket
	}
	if endpoint, known := t.Endpoints[r.URL.Path]; known {
		return endpoint
	}
	for path, endpoint := range t.Endpoints {
		if strings.HasSuffix(path, "/") && len(path) > 1 && strings.HasPrefix(r.URL.Path, path) {
			return endpoint
		}
	}
	return endpointREST
}

func (t *Telemetry) logRequest(ctx context.Context, method string, a *activity, w *recorder, took time.Duration) {
	t.log(ctx, "request", a, took, slog.String("method", method), slog.Int("status", w.status), slog.Int64("bytes", w.bytes))
}

// log writes a line about an activity that has ended.
func (t *Telemetry) log(ctx context.Context, what string, a *activity, took time.Duration, more ...slog.Attr) {
	if !t.logs {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	level := slog.LevelDebug
	slow := t.Slow > 0 && took >= t.Slow && !a.stream
	if slow {
		level, what = slog.LevelWarn, "slow "+what
	}
	if !t.Log.Enabled(ctx, level) {
		return
	}
	attrs := append(a.attrs(took), more...)
	if slow {
		attrs = append(attrs, slog.Any("statements", a.list()), slog.Int("moreStatements", a.more))
	}
	t.Log.LogAttrs(ctx, level, what, attrs...)
}

// attrs are the attributes of an activity that may be reported.
func (a *activity) attrs(took time.Duration) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("requestId", a.requestID), slog.String("door", a.endpoint), slog.String("operation", a.operation),
		slog.Int("cost", a.cost), slog.Duration("duration", took),
	}
	if a.code != "" {
		attrs = append(attrs, slog.String("code", a.code))
	}
	if a.caller != nil {
		attrs = append(attrs, slog.Int64("user", a.caller.UserID), slog.Int64("company", int64(a.caller.Scope.Company)))
	}
	return attrs
}
