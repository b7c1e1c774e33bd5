package transport

import (
	"context"
	"crypto/rand"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
)

const (
	// lead is how many events are made before the fastest follower takes them. What happens
	// meanwhile waits where it is added up.
	lead = 64
	// eventOverhead is what an event takes beside its text.
	eventOverhead = 256
)

// behind bounds what waits for followers who are behind the fastest.
type behind struct {
	// events and bytes are of one broadcast, together of all.
	events, bytes, together int
}

func usualBehind() behind { return behind{events: 20_000, bytes: 16 << 20, together: 64 << 20} }

// broadcast is one execution of a subscription whose encoded events go to all who follow the
// same: equal documents, operations, variables and callers. It runs in a context that knows
// no more of the callers than what is equal of them all.
type broadcast struct {
	named broadcastName
	call  *call
	by    any
	of    *broadcasts
	// path is that of an error about the whole stream.
	path ast.Path
	// cancel ends the execution, after which done is closed.
	cancel context.CancelFunc
	done   chan struct{}
	// begun is closed when the execution has started, or failed to.
	begun  chan struct{}
	failed bool
	// followers is guarded by the lock of all broadcasts.
	followers int

	mu sync.Mutex
	// oldest is the first event that somebody has yet to take; coming is the one after the
	// last, which is not made yet.
	oldest, coming *event
	waiting, bytes int
	// fastest is the number of the event that the fastest follower takes next; room has a
	// sign when it grew.
	fastest int
	room    chan struct{}
}

// event is one of a broadcast, or its end.
type event struct {
	number int
	// made is closed when the rest is known.
	made    chan struct{}
	payload []byte
	next    *event
	// readers are the followers who take this one next.
	readers int
	// dropped is set when its readers were too far behind.
	dropped bool
}

// follower is where one of a broadcast stands.
type follower struct{ next *event }

func newEvent(number int) *event { return &event{number: number, made: make(chan struct{})} }

func (e *event) size() int { return len(e.payload) + eventOverhead }

// broadcastName is what equal broadcasts have in common that a map can find.
type broadcastName struct{ text, operation string }

// broadcasts are those of a server.
type broadcasts struct {
	most  behind
	mu    sync.Mutex
	named map[broadcastName][]*broadcast
	// bytes wait in all of them.
	bytes atomic.Int64
}

// shares returns the context of a broadcast and what its callers have to be equal in; nil for
// a subscription that is followed alone. With an argument the start of a stream says
// something itself: a refusal, or the first event.
func (s *Server) shares(ctx context.Context, c *call) (context.Context, any) {
	if s.cfg.Share == nil {
		return nil, nil
	}
	if field := rootField(s.context(c), c); field == nil || len(field.Arguments) > 0 {
		return nil, nil
	}
	return s.cfg.Share(ctx, c.def)
}

// followShared passes on the events of a broadcast. It reports false where there is none to
// follow, or none could be started: then the caller learns why by following alone.
func (s *Server) followShared(ctx context.Context, c *call, emit func([]byte) bool) bool {
	shared, by := s.shares(ctx, c)
	if by == nil {
		return false
	}
	b, f := s.join(shared, c, by)
	defer b.leave(f)
	select {
	case <-b.begun:
	case <-ctx.Done():
		return true
	}
	if b.failed {
		return false
	}
	for {
		event, err := b.take(ctx, f)
		if err != nil {
			emit(payload(ctx, &graphql.Response{Data: null, Errors: gqlerror.List{s.presented(ctx, err)}}, c))
			return true
		}
		if event == nil || !s.deliver(ctx, event, emit) {
			return true
		}
	}
}

// join adds a follower to the broadcast of the call, which it starts where there is none.
func (s *Server) join(shared context.Context, c *call, by any) (*broadcast, *follower) {
	all := &s.broadcasts
	all.mu.Lock()
	defer all.mu.Unlock()
	name := broadcastName{c.document.text, c.def.Name}
	for _, b := range all.named[name] {
		if reflect.DeepEqual(b.call.variables, c.variables) && reflect.DeepEqual(b.by, by) {
			return b, b.add()
		}
	}
	ctx, cancel := context.WithCancel(WithRequestID(shared, rand.Text()))
	b := &broadcast{
		named: name, by: by, of: all, cancel: cancel, done: make(chan struct{}), begun: make(chan struct{}),
		path: ast.Path{ast.PathName(rootField(s.context(c), c).Alias)},
		call: &call{operation: c.operation, variables: c.variables, cost: c.cost}, coming: newEvent(0), room: make(chan struct{}, 1),
	}
	b.oldest = b.coming
	all.named[name] = append(all.named[name], b)
	first := b.add() // before there are events
	go b.run(ctx, s)
	return b, first
}

func (b *broadcast) add() *follower {
	b.followers++
	b.mu.Lock()
	defer b.mu.Unlock()
	b.coming.readers++
	b.reached(b.coming)
	return &follower{b.coming}
}

// leave removes a follower. The last one ends the execution, and waits for that.
func (b *broadcast) leave(f *follower) {
	b.mu.Lock()
	f.next.readers--
	b.trim()
	b.fastest = b.oldest.number
	for e := b.oldest; e != nil; e = e.next {
		if e.readers > 0 {
			b.fastest = e.number
		}
	}
	b.makeRoom() // nobody may be left who holds the execution up
	b.mu.Unlock()
	b.of.mu.Lock()
	b.followers--
	last := b.followers == 0
	if last {
		b.of.forget(b)
	}
	b.of.mu.Unlock()
	if last {
		b.cancel()
		<-b.done
	}
}

// forget has later followers start another broadcast.
func (all *broadcasts) forget(b *broadcast) {
	left := all.named[b.named]
	for i, other := range left {
		if other == b {
			left = append(left[:i:i], left[i+1:]...)
		}
	}
	if all.named[b.named] = left; len(left) == 0 {
		delete(all.named, b.named)
	}
}

// run makes the events until there are no more, or no followers.
func (b *broadcast) run(ctx context.Context, s *Server) {
	defer close(b.done)
	defer b.end()
	next, errs := s.subscribe(ctx, b.call)
	b.failed = len(errs) > 0
	close(b.begun)
	if b.failed {
		return
	}
	for resp := next(ctx); resp != nil; resp = next(ctx) {
		if !b.publish(ctx, payload(ctx, resp, b.call)) {
			return
		}
	}
}

func (b *broadcast) end() {
	b.cancel()
	b.of.mu.Lock()
	b.of.forget(b)
	b.of.mu.Unlock()
	close(b.coming.made)
}

// publish adds an event once the fastest follower is near enough.
func (b *broadcast) publish(ctx context.Context, payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.coming.number-b.fastest >= lead {
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-ctx.Done():
		}
		b.mu.Lock()
		if ctx.Err() != nil {
			return false
		}
	}
	made := b.coming
	made.payload, made.next = payload, newEvent(made.number+1)
	b.coming = made.next
	b.waiting, b.bytes = b.waiting+1, b.bytes+made.size()
	b.of.bytes.Add(int64(made.size()))
	close(made.made)
	b.trim()
	for b.oldest.number < b.fastest && b.isTooMuch() {
		b.oldest.dropped = true
		b.remove()
		b.trim()
	}
	return true
}

func (b *broadcast) isTooMuch() bool {
	most := b.of.most
	return b.waiting > most.events || b.bytes > most.bytes || b.of.bytes.Load() > int64(most.together)
}

// take waits for the next event of a follower; nil when there is none, or ctx ends.
func (b *broadcast) take(ctx context.Context, f *follower) ([]byte, error) {
	select {
	case <-f.next.made:
	case <-ctx.Done():
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := f.next
	if taken.dropped {
		return nil, gqlerror.WrapPath(b.path, domain.ErrUnread())
	}
	if taken.next == nil {
		return nil, nil
	}
	taken.readers--
	f.next = taken.next
	f.next.readers++
	b.reached(f.next)
	b.trim()
	return taken.payload, nil
}

// trim removes the events that all have taken.
func (b *broadcast) trim() {
	for b.oldest != b.coming && b.oldest.readers == 0 {
		b.remove()
	}
}

func (b *broadcast) remove() {
	removed := b.oldest
	b.oldest = removed.next
	b.waiting, b.bytes = b.waiting-1, b.bytes-removed.size()
	b.of.bytes.Add(-int64(removed.size()))
}

// reached notes that a follower takes the event next.
func (b *broadcast) reached(e *event) {
	if e.number <= b.fastest {
		return
	}
	b.fastest = e.number
	b.makeRoom()
}

// makeRoom has the execution look again whether the fastest follower is near enough.
func (b *broadcast) makeRoom() {
	select {
	case b.room <- struct{}{}:
	default:
	}
}
