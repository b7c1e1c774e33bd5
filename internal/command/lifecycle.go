package command

import (
	"context"
	"fmt"
	"time"

	"simgraph/internal/httpd"
	"simgraph/internal/ingest"
)

// LifeCycle are the flags of how long requests may take, also when the server
// stops.
type LifeCycle struct {
	RequestTimeout time.Duration `default:"1m" group:"Life cycle" range:"0s..24h" help:"The longest from a request to the last byte of its answer; streams have deadlines of their own, and 0 sets none."`
	DrainDelay     time.Duration `default:"0s" group:"Life cycle" range:"0s..1h" help:"How long to take requests after turning unready, when the server stops: longer than balancers take to notice."`
	DrainTime      time.Duration `default:"15s" group:"Life cycle" range:"0s..1h" help:"How long requests in flight may take after that."`
}

// check returns an error when a statement may outlive its request.
func (l *LifeCycle) check(statement time.Duration) error {
	if l.RequestTimeout > 0 && (statement == 0 || statement >= l.RequestTimeout) {
		return fmt.Errorf("--request-timeout %v must be longer than --statement-timeout %v, or 0", l.RequestTimeout, statement)
	}
	return nil
}

// timing is that of the server.
func (l *LifeCycle) timing() httpd.Timing {
	return httpd.Timing{Request: l.RequestTimeout, Delay: l.DrainDelay, Drain: l.DrainTime}
}

// closer ends the streams of the service when the server stops.
func (v *service) closer(usage *ingest.Handler) func(context.Context) {
	return func(ctx context.Context) {
		usage.Close(ctx)
		v.engine.Drain(ctx)
	}
}
