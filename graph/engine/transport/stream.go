package transport

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// perform runs an operation and passes each encoded response to emit, until
// emit returns false. It returns errors where the operation did not start.
func (s *Server) perform(ctx context.Context, op *operation, r *request, emit func([]byte) bool) (errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil {
			errs = gqlerror.List{s.presented(ctx, s.recovered(ctx, r))}
		}
	}()
	c, errs := s.admit(ctx, op, r, s.cfg.Limits.Cost)
	if len(errs) > 0 {
		return errs
	}
	if op.def.Operation != ast.Subscription {
		resp := s.run(ctx, c)
		r.body.Release()
		emit(payload(ctx, resp, c))
		return nil
	}
	// A subscription may last for days; it has its variables.
	r.body.Release()
	*r = request{}
	return s.follow(ctx, c, emit)
}

// follow passes on the events of a subscription.
func (s *Server) follow(ctx context.Context, c *call, emit func([]byte) bool) (errs gqlerror.List) {
	defer c.leave()
	ctx, done := s.begin(ctx, c)
	defer func() { done(errs) }()
	if s.followShared(ctx, c, emit) {
		return nil
	}
	next, errs := s.subscribe(ctx, c)
	if len(errs) > 0 {
		return errs
	}
	for {
		resp := next(ctx)
		if resp == nil || !s.deliver(ctx, payload(ctx, resp, c), emit) {
			return nil
		}
	}
}

// deliver passes an event on to one follower.
func (s *Server) deliver(ctx context.Context, event []byte, emit func([]byte) bool) bool {
	if s.cfg.BeforeEvent != nil {
		s.cfg.BeforeEvent(ctx)
	}
	return emit(event)
}

// payload encodes a response, or what was refused where c is nil.
func payload(ctx context.Context, resp *graphql.Response, c *call) []byte {
	resp.Errors = limited(ctx, resp.Errors)
	b := new(bytes.Buffer)
	encode(b, resp, c)
	return b.Bytes()
}

// stream answers with server-sent events in the distinct connections mode of
// graphql-sse. Errors of the operation are events too: an EventSource is not
// shown the body of any other answer.
func (e *exchange) stream(op *operation, r *request, errs gqlerror.List) {
	ctx, cancel := context.WithCancel(e.r.Context())
	events := make(chan []byte)
	defer func() {
		// Nothing of the operation may run on when the handler is left.
		cancel()
		for range events {
		}
	}()
	go e.produce(ctx, events, op, r, errs)
	var closing <-chan struct{}
	if len(errs) == 0 && op.def.Operation == ast.Subscription {
		closing = e.closing.Done() // what ends by itself may do so
	}
	out := &eventWriter{w: e.w, control: http.NewResponseController(e.w), patience: e.cfg.Timing.Write}
	if !out.begin() {
		return
	}
	e.relay(ctx, out, events, closing)
}

// produce runs the operation and sends its encoded responses.
func (e *exchange) produce(ctx context.Context, events chan<- []byte, op *operation, r *request, errs gqlerror.List) {
	defer close(events)
	send := func(event []byte) bool {
		select {
		case events <- event:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if len(errs) == 0 {
		errs = e.perform(ctx, op, r, send)
	}
	if len(errs) > 0 {
		send(payload(ctx, &graphql.Response{Errors: errs}, nil))
	}
}

// relay writes events until there are no more, and comments in between. Only
// this goroutine writes: a handler's writer is dead once it has returned.
func (e *exchange) relay(ctx context.Context, out *eventWriter, events <-chan []byte, closing <-chan struct{}) {
	ping := time.NewTicker(e.cfg.Timing.Ping)
	defer ping.Stop()
	revalidate := time.NewTicker(e.cfg.Timing.Revalidate)
	defer revalidate.Stop()
	for alive := true; alive; {
		select {
		case event, more := <-events:
			if !more {
				out.complete()
				return
			}
			alive = out.next(event)
		case <-ping.C:
			alive = out.comment()
		case <-revalidate.C:
			if err := e.valid(ctx); err != nil {
				out.next(payload(ctx, &graphql.Response{Errors: gqlerror.List{e.presented(ctx, err)}}, nil))
				out.complete()
				return
			}
		case <-ctx.Done():
			return
		case <-closing:
			return
		}
	}
}

// eventWriter writes server-sent events, each within its own deadline.
type eventWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

// begin lifts the deadline of the request, which has been read, and sends the
// headers with a comment, since some browsers wait for a first byte.
func (o *eventWriter) begin() bool {
	// A writer without deadlines is one of a test.
	_ = o.control.SetReadDeadline(time.Time{})
	h := o.w.Header()
	h.Set("Content-Type", typeStream+"; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	return o.comment()
}

func (o *eventWriter) comment() bool { return o.write([]byte(":\n\n")) }

func (o *eventWriter) complete() { o.write([]byte("event: complete\ndata:\n\n")) }

func (o *eventWriter) next(event []byte) bool {
	// A raw line break, possible within JSON of others, would end the event.
	event = bytes.ReplaceAll(event, []byte("\r"), nil)
	event = bytes.ReplaceAll(event, []byte("\n"), []byte("\ndata: "))
	b := make([]byte, 0, len(event)+32)
	b = append(b, "event: next\ndata: "...)
	b = append(b, event...)
	return o.write(append(b, "\n\n"...))
}

func (o *eventWriter) write(b []byte) bool {
	_ = o.control.SetWriteDeadline(time.Now().Add(o.patience))
	// One that passes while nothing is written would end a stream of HTTP/2.
	defer func() { _ = o.control.SetWriteDeadline(time.Time{}) }()
	if _, err := o.w.Write(b); err != nil {
		return false
	}
	return o.control.Flush() == nil
}
