package command

import (
	"context"
	"fmt"
	"time"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/httpd"
	"simgraph/internal/ingest"
	"simgraph/internal/limit"
	"simgraph/internal/pace"
	"simgraph/internal/telemetry"
)

// Limits are the flags of what callers may ask for. 0 stands for no limit.
type Limits struct {
	TokenRate            float64       `default:"10000" group:"Limits; 0 stands for none" range:"0..1e9" help:"Requests a second of an access token."`
	TokenBurst           float64       `default:"20000" group:"Limits; 0 stands for none" range:"0..1e9" help:"Requests of an access token at once."`
	AddressRate          float64       `default:"20000" group:"Limits; 0 stands for none" range:"0..1e9" help:"Requests a second from an address."`
	AddressBurst         float64       `default:"40000" group:"Limits; 0 stands for none" range:"0..1e9" help:"Requests from an address at once."`
	CostRate             float64       `default:"5000000" group:"Limits; 0 stands for none" range:"0..1e12" help:"Cost of operations a second of an access token."`
	CostBurst            float64       `default:"20000000" group:"Limits; 0 stands for none" range:"0..1e12" help:"Cost of operations of an access token at once."`
	MaxCost              int           `default:"50000" group:"Limits; 0 stands for none" range:"1..1000000000" help:"Cost of one GraphQL operation."`
	Concurrency          int           `default:"128" group:"Limits; 0 stands for none" range:"0..100000" help:"Operations that run at once."`
	Queue                int           `default:"512" group:"Limits; 0 stands for none" range:"0..1000000" help:"Operations that wait for their turn; more are answered with 503."`
	QueueTime            time.Duration `default:"1s" group:"Limits; 0 stands for none" range:"0s..1h" help:"How long they wait."`
	TokenSubscriptions   int           `default:"5000" group:"Limits; 0 stands for none" range:"0..1000000" help:"Open subscriptions of an access token."`
	AddressSubscriptions int           `default:"10000" group:"Limits; 0 stands for none" range:"0..1000000" help:"Open subscriptions from an address."`
	TokenWebsockets      int           `name:"token-websockets" default:"2500" group:"Limits; 0 stands for none" range:"0..1000000" help:"Open WebSockets of an access token."`
	AddressWebsockets    int           `name:"address-websockets" default:"5000" group:"Limits; 0 stands for none" range:"0..1000000" help:"Open WebSockets from an address."`
	SocketSubscriptions  int           `default:"100" group:"Limits; 0 stands for none" range:"1..1000000" help:"Operations at once on one WebSocket."`
	MaxBody              int64         `default:"1048576" group:"Limits; 0 stands for none" range:"1..1073741824" help:"Bytes of a GraphQL request or message."`
	UsageStreams         int           `default:"64" group:"Limits; 0 stands for none" range:"1..100000" help:"Streams of usage records at once."`
	UsageStreamSize      int64         `default:"0" group:"Limits; 0 stands for none" range:"0.." help:"Bytes of a stream of usage records."`
	TrustedProxy         []string      `placeholder:"NETWORK" group:"Limits; 0 stands for none" help:"Believe X-Forwarded-For from this address or network (repeatable)."`
}

// Validate is called by kong.
func (l *Limits) Validate() error {
	_, err := limit.ParseProxies(l.TrustedProxy)
	return err
}

// The attempts at links from an address: more than people make, of whom many may share
// one, and fewer than a search for codes needs.
const (
	linkRate  = 1
	linkBurst = 60
)

// The links by mail that are asked for from an address: more than an office asks for in the
// morning, and too few to keep the server busy with addresses that are guessed.
const (
	linkRequestRate  = 0.1
	linkRequestBurst = 30
)

// The exports of an access token, and of all, at once: each holds a connection of its own, and
// a snapshot that keeps old rows in the database.
const (
	tokenExports = 1
	allExports   = 4
)

func (l *Limits) limits(metrics *telemetry.Metrics) *limit.Limits {
	return limit.New(limit.Config{
		TokenRate: l.TokenRate, TokenBurst: l.TokenBurst,
		AddressRate: l.AddressRate, AddressBurst: l.AddressBurst,
		LinkRate: linkRate, LinkBurst: linkBurst,
		LinkRequestRate: linkRequestRate, LinkRequestBurst: linkRequestBurst,
		CostRate: l.CostRate, CostBurst: l.CostBurst,
		Running: l.Concurrency, Queue: l.Queue, Patience: l.QueueTime,
		Subscriptions: l.TokenSubscriptions, SubscriptionsPerAddress: l.AddressSubscriptions,
		Sockets: l.TokenWebsockets, SocketsPerAddress: l.AddressWebsockets,
		Exports: tokenExports, ExportsInAll: allExports,
		Refused: func(r limit.Reason) { metrics.Refused(string(r)) },
	})
}

// documents are the limits of documents and connections.
func (l *Limits) documents() transport.Limits {
	limits := transport.DefaultLimits()
	limits.Cost, limits.Body, limits.Subscriptions = l.MaxCost, l.MaxBody, l.SocketSubscriptions
	return limits
}

// around is what every request passes on its way to an endpoint.
func (s *Serve) around(v *service) ([]httpd.Middleware, error) {
	origins, err := httpd.NewOrigins(s.CORSOrigin, s.PublicURL)
	if err != nil {
		return nil, err
	}
	proxies, err := limit.ParseProxies(s.TrustedProxy)
	if err != nil {
		return nil, err
	}
	around := []httpd.Middleware{
		httpd.Every(v.telemetry.Requests), httpd.Every(origins.Guard), origins.Own, httpd.Limited(v.limits, proxies), httpd.Gated(v.schema.check),
	}
	if s.Compress {
		compressed, err := httpd.Compressed()
		if err != nil {
			return nil, err
		}
		around = append(around, compressed)
	}
	if v.replicas != nil {
		around = append(around, httpd.Every(v.replicas.WithSession))
	}
	return around, nil
}

// admitted is asked about every request that a token admits.
func (v *service) admitted(ctx context.Context) error {
	v.telemetry.Admitted(ctx)
	v.pace.Use()
	return v.limits.ByCaller(ctx)
}

// metered counts the usage that is booked.
type metered struct {
	domain.Usage
	metrics *telemetry.Metrics
	pace    *pace.Pace
}

// RecordInTurn implements domain.Usage.
func (m metered) RecordInTurn(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	began := time.Now()
	results, err := m.Usage.RecordInTurn(ctx, scope, records, placed)
	m.pace.Use()
	if err == nil {
		m.metrics.Booked(records, results, began)
	}
	return results, err
}

// Record implements domain.Usage.
func (m metered) Record(ctx context.Context, scope domain.Scope, records []domain.UsageRecord) ([]domain.Recorded, error) {
	return m.RecordInTurn(ctx, scope, records, func() {})
}

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
