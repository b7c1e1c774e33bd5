// Package transport is the engine around the executable schema: it takes
// operations over HTTP (GraphQL over HTTP, server-sent events, WebSocket) or
// in process, guards, validates, prices and executes them, and writes answers.
package transport

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/input"
	"simgraph/graph/plan"
	"simgraph/graph/scalar"
)

// Config is how a Server meets the rest of the program. Every field may be
// left zero.
type Config struct {
	// Log takes internal errors and panics; nil means slog.Default.
	Log *slog.Logger
	// Limits default to DefaultLimits.
	Limits Limits
	// Scalars return, by name, why a raw value is none of a custom scalar; the
	// default is scalar.Checks.
	Scalars map[string]func(any) error
	// Present turns an error of a resolver into a public one with a code, or
	// returns nil for one that is not meant for callers: it is logged, and the
	// caller gets no more than the request id.
	Present func(ctx context.Context, err error) *gqlerror.Error
	// PerResponse puts what must not outlive a response into its context, such
	// as dataloaders. A subscription has one response per event.
	PerResponse func(ctx context.Context) context.Context
	// AfterRootMutationField runs when a root field of a mutation has been
	// resolved with all that is selected below it.
	AfterRootMutationField func(ctx context.Context)
	// Charge books the price of an operation before it runs. An error refuses it:
	// one of the kinds RateLimited and Unavailable holds when to try again, any
	// other goes through Present.
	Charge func(ctx context.Context, cost int) error
	// Enter is called before an operation runs, and may wait; leave is called when
	// the operation has ended. Errors refuse, as those of Charge do.
	Enter func(ctx context.Context, kind ast.Operation) (leave func(), err error)
	// Observe is called for every operation before it runs, and of those that are
	// refused. It returns the context to run in, and gets the errors when
	// the operation has ended.
	Observe func(ctx context.Context, op Operation) (context.Context, func(gqlerror.List))
	// Count, unless nil, is called for every operation before it runs, with what it uses of
	// the schema.
	Count func(ctx context.Context, use Use)
	// Alternate, unless nil, is called before a query runs, and returns what answers
	// it; nil stands for the resolvers of the Server.
	Alternate func(ctx context.Context) *Alternate
	// Share, unless nil, is called for a subscription whose root field has no arguments. Those
	// with equal documents, operations and variables for which it returns deeply equal values
	// are executed once, in one of the contexts that it returned for them, and get the same
	// events. That context must know no more of the caller than the value does. A nil value
	// is executed alone.
	Share func(ctx context.Context, op *ast.OperationDefinition) (shared context.Context, by any)
	// BeforeEvent, unless nil, is called for every event of a subscription, before it
	// is sent.
	BeforeEvent func(ctx context.Context)
	// Document returns the text of the trusted document with that SHA-256, in 64 lower-case
	// hexadecimal digits, that the caller of ctx may run; "" for none. Nil knows none.
	Document func(ctx context.Context, hash string) (string, error)
	// DocumentsOnly, unless nil, reports that the caller of ctx may run trusted documents
	// alone.
	DocumentsOnly func(ctx context.Context) bool
	// Explorer answers GET requests that want text/html; nil means 406.
	Explorer http.Handler
	// Authenticate admits a WebSocket by the payload of its connection_init
	// (nil when there is none) and returns the context of its operations, which
	// derives from ctx; an error closes with 4403. Nil means that the handler in
	// front has already authenticated.
	Authenticate func(ctx context.Context, payload map[string]any) (context.Context, error)
	// StillValid is called every Timing.Revalidate while a stream is open; an
	// error ends it (WebSocket: 4403), so a failure to find out is none.
	StillValid func(ctx context.Context) error
	// Timing defaults to DefaultTiming.
	Timing Timing
	// HideSchema refuses introspection and leaves suggestions out of errors.
	HideSchema bool
	// Unplanned leaves every field to gqlgen's executor, whose answers are the
	// same and cost several times as much.
	Unplanned bool
}

// Limits bound documents, values and connections.
type Limits struct {
	guard.Limits
	// Input bounds single values.
	Input input.Limits
	// Body is the most bytes of a request body or WebSocket message.
	Body int64
	// Subscriptions is how many operations one WebSocket may have running.
	Subscriptions int
	// Documents is how many validated documents are remembered.
	Documents int
}

// DefaultLimits are meant for a server on the public internet.
func DefaultLimits() Limits {
	return Limits{
		Limits:        guard.DefaultLimits(),
		Input:         input.DefaultLimits(),
		Body:          1 << 20,
		Subscriptions: 100,
		Documents:     1_000,
	}
}

// Timing of streams.
type Timing struct {
	// Init is how long a WebSocket may take to send connection_init.
	Init time.Duration
	// Message is how long a WebSocket may take to send one message.
	Message time.Duration
	// Ping is the time between signs of life on an idle stream.
	Ping time.Duration
	// Write is how long a peer may take to accept one message.
	Write time.Duration
	// Revalidate is the time between two calls of StillValid.
	Revalidate time.Duration
}

// DefaultTiming is what clients and proxies commonly expect.
func DefaultTiming() Timing {
	return Timing{Init: 10 * time.Second, Message: 10 * time.Second, Ping: 20 * time.Second, Write: 10 * time.Second, Revalidate: 5 * time.Second}
}

// Server executes operations of one schema. It is safe for concurrent use.
type Server struct {
	cfg       Config
	schema    graphql.ExecutableSchema
	checker   *input.Checker
	validator *validator
	documents *documents
	// plan is how fields are answered; nil when the schema has none.
	plan *plan.Schema
	// inputs are the coordinates that values of variables can use.
	inputs     inputs
	broadcasts broadcasts
	// closing is done once Close was called; no socket is added from then on.
	closing context.Context
	close   context.CancelFunc
	mu      sync.Mutex
	sockets sync.WaitGroup
}

// New returns the engine that executes operations of the schema. Servers share
// the schema and only read it. It must not have the directive @defer, whose
// later parts no transport here delivers.
func New(schema graphql.ExecutableSchema, cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	if cfg.Timing == (Timing{}) {
		cfg.Timing = DefaultTiming()
	}
	if cfg.Scalars == nil {
		cfg.Scalars = scalar.Checks()
	}
	closing, stop := context.WithCancel(context.Background())
	s := &Server{
		cfg:       cfg,
		schema:    schema,
		checker:   input.NewChecker(schema.Schema(), cfg.Scalars, cfg.Limits.Input),
		inputs:    inputsOf(schema.Schema()),
		validator: newValidator(schema.Schema(), cfg.HideSchema),
		documents: newDocuments(cfg.Limits.Documents),
		closing:   closing,
		close:     stop,

		broadcasts: broadcasts{most: usualBehind(), named: map[broadcastName][]*broadcast{}},
	}
	if planned, ok := schema.(plan.Executable); ok {
		s.plan = planned.Plan()
	}
	return s
}

// Close ends all subscriptions, and so their streams: WebSockets with code 1001
// once the queries and mutations on them are answered, server-sent events with
// their connection. http.Server.Shutdown neither waits for the former nor ends
// the latter.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

// Drain closes, and waits until all WebSockets have ended, or ctx has.
func (s *Server) Drain(ctx context.Context) {
	s.Close()
	ended := make(chan struct{})
	go func() { s.sockets.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// openSocket counts a WebSocket; false when the server is closing.
func (s *Server) openSocket() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return false
	}
	s.sockets.Add(1)
	return true
}
