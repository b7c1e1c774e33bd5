package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"simgraph/internal/held"
	"simgraph/internal/problem"
)

// subprotocol is the only one spoken; its predecessor graphql-ws is not.
const subprotocol = "graphql-transport-ws"

// ending is why a WebSocket is closed. It is an error to end the reading.
type ending struct {
	code   websocket.StatusCode
	reason string
}

func (e *ending) Error() string { return e.reason }

// Endings of the protocol graphql-transport-ws.
var (
	errInvalidMessage = &ending{4400, "Invalid message received"}
	errUnauthorized   = &ending{4401, "Unauthorized"}
	errForbidden      = &ending{4403, "Forbidden"}
	errSubprotocol    = &ending{4406, "Subprotocol not acceptable"}
	errInitTimeout    = &ending{4408, "Connection initialisation timeout"}
	errTooMany        = &ending{4429, "Too many connections or requests"}
	errSlow           = &ending{4408, "Message timeout"}
	errFull           = &ending{websocket.StatusTryAgainLater, "Too many large messages are being read"}
	errSecondInit     = &ending{4429, "Too many initialisation requests"}
	errGoingAway      = &ending{websocket.StatusGoingAway, "The server is shutting down"}
)

// socket is one WebSocket connection.
type socket struct {
	server *Server
	conn   *websocket.Conn
	// ctx ends all operations; it is replaced by the one that Authenticate
	// returns, before the first operation.
	ctx         context.Context
	cancel      context.CancelFunc
	initTimeout *time.Timer
	// headers are those of the handshake, with what connection_init calls the client.
	headers http.Header
	// initialised is set by connection_init, acknowledged once operations may come.
	initialised, acknowledged bool
	work                      sync.WaitGroup

	// mu orders writes with the set of active operations, so that nothing is
	// sent for an operation that has ended.
	mu     sync.Mutex
	active map[string]*subscription
	// leaving takes no more operations: the server is closing.
	leaving bool
}

// serveWebSocket speaks graphql-transport-ws until the connection ends. Any
// origin is admitted: a token travels in connection_init or a header that no
// page can set, so a foreign page has no rights to borrow.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	if !s.openSocket() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, errGoingAway.reason, http.StatusServiceUnavailable)
		return
	}
	defer s.sockets.Done()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true,
	})
	if err != nil {
		s.cfg.Log.Debug("a WebSocket handshake failed", slog.Any("error", err))
		return // Accept has answered
	}
	conn.SetReadLimit(s.cfg.Limits.Body)
	ctx, cancel := context.WithCancel(r.Context())
	c := &socket{
		headers: r.Header, server: s, conn: conn, ctx: ctx, cancel: cancel, active: map[string]*subscription{},
	}
	c.serve()
}

// serve reads messages until one ends the connection, and leaves when all
// operations have ended.
func (c *socket) serve() {
	defer c.work.Wait()
	defer c.cancel()
	defer func() { _ = c.conn.CloseNow() }()
	if c.conn.Subprotocol() != subprotocol {
		c.end(errSubprotocol)
		return
	}
	c.initTimeout = time.AfterFunc(c.server.cfg.Timing.Init, func() { c.end(errInitTimeout) })
	defer c.initTimeout.Stop()
	stop := context.AfterFunc(c.server.closing, c.leave)
	defer stop()
	for {
		if err := c.read(); err != nil {
			if why, ok := errors.AsType[*ending](err); ok {
				c.end(why)
			}
			return
		}
	}
}

// end closes the connection. Its operations send nothing more: a complete
// message would look like success to the client.
func (c *socket) end(why *ending) {
	c.mu.Lock()
	clear(c.active)
	c.mu.Unlock()
	c.cancel()
	_ = c.conn.Close(why.code, why.reason)
}

// leave ends the subscriptions at once, and the connection when queries and
// mutations have their answers: who is cut off in a mutation cannot know whether
// it happened.
func (c *socket) leave() {
	c.mu.Lock()
	c.leaving = true
	for _, s := range c.active {
		if s.endless {
			s.dropLocked()
		}
	}
	c.mu.Unlock()
	c.endIfLeft()
}

// endIfLeft ends the connection of a closing server when nothing runs on it.
func (c *socket) endIfLeft() {
	c.mu.Lock()
	left := c.leaving && len(c.active) == 0
	c.mu.Unlock()
	if left {
		c.end(errGoingAway)
	}
}

// read handles one message. Its context is not that of the operations: one
// that ended would cut the connection without a close code.
func (c *socket) read() error {
	kind, message, err := c.conn.Reader(context.WithoutCancel(c.ctx))
	if err != nil {
		return err
	}
	in := held.NewReader(message, owner(c.ctx), c.server.cfg.Limits.Body)
	late := time.AfterFunc(c.server.cfg.Timing.Message, func() { c.end(errSlow) })
	data, err := io.ReadAll(in)
	late.Stop()
	if err == nil {
		return c.take(kind, data, in)
	}
	in.Release()
	if errors.Is(err, held.ErrFull) {
		return errFull
	}
	return err
}

// take handles a message. What was read for an operation is held until that has ended.
func (c *socket) take(kind websocket.MessageType, data []byte, in *held.Reader) error {
	m, err := parseMessage(data)
	if err != nil || kind != websocket.MessageText {
		in.Release()
		return errInvalidMessage
	}
	if m.request != nil {
		m.request.body = in
		return c.subscribe(m)
	}
	defer in.Release()
	return c.handle(m)
}

func (c *socket) handle(m *message) error {
	switch m.kind {
	case "connection_init":
		return c.init(m)
	case "ping":
		return c.write("pong", "", m.raw)
	case "pong":
		return nil
	case "complete":
		c.stop(m.id)
		c.endIfLeft()
		return nil
	default:
		return errInvalidMessage
	}
}

func (c *socket) init(m *message) error {
	if c.initialised {
		return errSecondInit
	}
	c.initialised = true
	c.initTimeout.Stop()
	if authenticate := c.server.cfg.Authenticate; authenticate != nil {
		ctx, err := authenticate(c.ctx, m.payload)
		if err != nil {
			return refusedConnection(err)
		}
		c.ctx = ctx
	}
	c.headers = withClient(c.headers, m.payload)
	c.acknowledged = true
	c.work.Go(c.watch)
	return c.write("connection_ack", "", nil)
}

func refusedConnection(err error) *ending {
	if problem.Of(err).Status() == http.StatusTooManyRequests {
		return errTooMany
	}
	return errForbidden
}

// watch keeps the connection alive, and ends it when the peer does not answer
// or its token is no longer valid.
func (c *socket) watch() {
	timing := c.server.cfg.Timing
	ping := time.NewTicker(timing.Ping)
	defer ping.Stop()
	revalidate := time.NewTicker(timing.Revalidate)
	defer revalidate.Stop()
	for {
		select {
		case <-ping.C:
			if !c.answers(timing.Ping) {
				_ = c.conn.CloseNow()
				return
			}
		case <-revalidate.C:
			if c.server.valid(c.ctx) != nil {
				c.end(errForbidden)
				return
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// answers sends a ping frame, which browsers answer by themselves.
func (c *socket) answers(within time.Duration) bool {
	ctx, cancel := context.WithTimeout(c.ctx, within)
	defer cancel()
	return c.conn.Ping(ctx) == nil || c.ctx.Err() != nil
}

// write sends one message. A peer that does not take it in time is cut off,
// so that it holds up nobody but itself.
func (c *socket) write(kind, id string, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeLocked(kind, id, payload)
}

func (c *socket) writeLocked(kind, id string, payload []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), c.server.cfg.Timing.Write)
	defer cancel()
	err := c.conn.Write(ctx, websocket.MessageText, formatMessage(kind, id, payload))
	if ctx.Err() != nil {
		c.server.cfg.Log.Info("a WebSocket was cut off: its client takes no messages", slog.String("requestId", RequestID(c.ctx)))
	}
	return err
}
