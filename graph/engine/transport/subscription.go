package transport

import (
	"context"
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// subscription is an operation that runs on a WebSocket; queries and mutations
// do so too.
type subscription struct {
	socket *socket
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	// endless is one that follows events; others end by themselves.
	endless bool
}

func (c *socket) subscribe(m *message) error {
	request := m.request
	running := false
	defer func() {
		if !running {
			request.body.Release()
		}
	}()
	if !c.acknowledged {
		return errUnauthorized
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return nil // the close code makes the client ask again elsewhere
	}
	if c.active[m.id] != nil {
		return &ending{4409, "Subscriber for " + truncated(m.id, longestInReason) + " already exists"}
	}
	ctx, cancel := context.WithCancel(c.ctx)
	s := &subscription{socket: c, id: m.id, ctx: ctx, cancel: cancel}
	if limit := c.server.cfg.Limits.Subscriptions; len(c.active) >= limit {
		cancel()
		return c.writeLocked("error", m.id, s.errors(gqlerror.List{
			coded(CodeSubscriptions, "a connection may run at most %d operations at once", limit)}))
	}
	request.headers = c.headers
	c.active[m.id] = s
	running = true
	c.work.Go(func() { s.run(request) })
	return nil
}

// longestInReason bounds, in bytes, an id in a close reason, which has 123 at most.
const longestInReason = 83

// stop ends an operation that the client wants no more of. Its id is free at
// once, and the operation can send nothing from here on.
func (c *socket) stop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.active[id]; s != nil {
		s.dropLocked()
	}
}

func (s *subscription) dropLocked() {
	s.cancel()
	delete(s.socket.active, s.id)
}

func (s *subscription) run(r *request) {
	defer s.cancel()
	defer r.body.Release()
	server := s.socket.server
	defer s.socket.endIfLeft()
	op, errs := server.find(s.ctx, r)
	if len(errs) == 0 && (op.def.Operation != ast.Subscription || s.follows()) {
		errs = server.perform(s.ctx, op, r, s.next)
	}
	if len(errs) > 0 {
		s.finish("error", s.errors(errs))
		return
	}
	s.finish("complete", nil)
}

// follows notes that the operation has no end of its own; false when the server
// is closing, which leaves no more to follow.
func (s *subscription) follows() bool {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()
	s.endless = true
	if s.socket.leaving && s.socket.active[s.id] == s {
		s.dropLocked()
	}
	return !s.socket.leaving
}

func (s *subscription) errors(errs gqlerror.List) []byte {
	text, err := json.Marshal(limited(s.ctx, errs))
	if err != nil {
		text = []byte(`[{"message":"` + masked + `"}]`)
	}
	return text
}

func (s *subscription) next(payload []byte) bool {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()
	return s.socket.active[s.id] == s && s.socket.writeLocked("next", s.id, payload) == nil
}

// finish frees the id and then notifies the client, who may use it again.
func (s *subscription) finish(kind string, payload []byte) {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()
	if s.socket.active[s.id] != s {
		return
	}
	delete(s.socket.active, s.id)
	// A connection that fails here is noticed by its reader.
	_ = s.socket.writeLocked(kind, s.id, payload)
}
