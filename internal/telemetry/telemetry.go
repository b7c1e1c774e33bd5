// Package telemetry shows operators what the server does: metrics for
// Prometheus, traces for OpenTelemetry, and lines of the log for requests and
// for what was slow. It identifies callers by number, and never a token, the value of an
// argument, an address or an e-mail.
package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Config selects what is reported. The zero value reports nothing and costs nothing.
type Config struct {
	// Log takes a line for each request at level debug, and at level warn for
	// what was slow; nil takes none.
	Log *slog.Logger
	// Slow is how long a request, or an operation of a WebSocket, takes that is
	// logged with its statements; 0 logs none.
	Slow time.Duration
	// Metrics count; nil counts nothing.
	Metrics *Metrics
	// Tracer makes spans; nil makes none.
	Tracer trace.Tracer
	// Endpoints are the names of endpoints by their exact paths; any other path is
	// "rest". The label of the metrics and the attribute of the log are "door".
	Endpoints map[string]string
	// Streams are the endpoints whose requests last as long as their clients please.
	Streams []string
}

// Telemetry follows requests through the server.
type Telemetry struct {
	Config
	logs bool
}

// New returns the telemetry that the settings request.
func New(cfg Config) *Telemetry {
	t := &Telemetry{Config: cfg}
	t.logs = cfg.Log != nil && (cfg.Slow > 0 || cfg.Log.Enabled(context.Background(), slog.LevelDebug))
	return t
}

// On reports whether anything is reported at all. When it is not, nothing of this
// needs to be built in.
func (t *Telemetry) On() bool { return t.logs || t.Metrics != nil || t.Tracer != nil }
