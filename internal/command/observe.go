package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel"

	"simgraph/db/backlog"
	"simgraph/domain/webhook"
	"simgraph/internal/intake"
	"simgraph/internal/limit"
	"simgraph/internal/mail"
	"simgraph/internal/telemetry"
	"simgraph/internal/upstream"
)

// Observation are the flags of what operators see.
type Observation struct {
	AdminAddr     string        `group:"Observation" placeholder:"HOST:PORT" help:"Serve metrics and profiles, without tokens, on this address of your own network."`
	SlowOperation time.Duration `default:"1s" group:"Observation" range:"0s..24h" help:"Log what takes as long with the statements it ran; 0 logs none."`
}

// observed is the telemetry of a run of the server.
type observed struct {
	*telemetry.Telemetry
	admin net.Listener
	log   *slog.Logger
	// stop sends the spans that are left.
	stop func(context.Context) error
}

// observe begins to observe. The endpoints are not known yet, nor the pools.
func (o *Observation) observe(ctx context.Context, log *slog.Logger) (*observed, error) {
	tracer, stop, err := telemetry.NewTracer(ctx, os.Getenv, BuildVersion())
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces cannot be sent", "error", err) }))
	v := &observed{log: log, stop: stop}
	cfg := telemetry.Config{Log: log, Slow: o.SlowOperation, Tracer: tracer}
	if o.AdminAddr != "" {
		if v.admin, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.AdminAddr); err != nil {
			return nil, err
		}
		cfg.Metrics = telemetry.NewMetrics(BuildVersion())
		log.Info("metrics are on http://" + v.admin.Addr().String() + "/metrics")
	}
	v.Telemetry = telemetry.New(cfg)
	return v, nil
}

// trace returns what follows statements; nil when nothing does.
func (v *observed) trace() func(context.Context, string) func(error) {
	if !v.On() {
		return nil
	}
	return v.Statement
}

// watch adds the metrics of the pools and of what waits in the database.
func (v *observed) watch(requests, upkeep *sqlx.DB) {
	if v.Metrics == nil {
		return
	}
	v.Metrics.Begin(limit.Reasons, mail.Results, webhook.Results, intake.FileResults, upstream.Results, workers)
	v.Metrics.Register(collectors.NewDBStatsCollector(requests.DB, "requests"))
	v.Metrics.Register(collectors.NewDBStatsCollector(upkeep.DB, "upkeep"))
	v.Metrics.Register(telemetry.NewBacklog(backlog.New(requests), v.log))
}

// watchFeed adds the metrics of the pool for RADIUS.
func (v *observed) watchFeed(pool *sqlx.DB) {
	if v.Metrics != nil {
		v.Metrics.Register(collectors.NewDBStatsCollector(pool.DB, "radius"))
	}
}

// name takes the names of the endpoints by their paths.
func (v *observed) name(endpoints map[string]string) {
	v.Endpoints, v.Streams = endpoints, []string{usageEndpoint, exportEndpoint}
}

// The endpoints whose requests stream as many rows as there are.
const (
	usageEndpoint  = "usage"
	exportEndpoint = "export"
)

// adminTimeout bounds a request to the admin address; profiles take a while.
const adminTimeout = 2 * time.Minute

// serve serves the admin address, if there is one, until ctx ends.
func (v *observed) serve(ctx context.Context) error {
	if v.admin == nil {
		<-ctx.Done()
		return nil
	}
	server := &http.Server{
		Handler: v.Metrics.Admin(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: adminTimeout,
		ErrorLog: slog.NewLogLogger(v.log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(v.admin); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// end sends what is left and closes the admin address.
func (v *observed) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if v.admin != nil {
		_ = v.admin.Close() // the server may have closed it
	}
	return v.stop(ctx)
}
