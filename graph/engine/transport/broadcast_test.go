package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
)

// shared has callers with the same request id share executions.
func shared(c *transport.Config) {
	c.Share = func(ctx context.Context, _ *ast.OperationDefinition) (context.Context, any) {
		return context.Background(), []string{transport.RequestID(ctx)}
	}
}

const flood = "subscription{flood{name}}"

// onTheWay are the events that a stream has taken before its client has: one is written, the
// next one waits for that.
const onTheWay = 2

// reader follows a stream and takes an event when the test does.
type reader struct {
	*testing.T
	header http.Header
	events chan string
	left   context.Context
	leave  func()
}

func (r *reader) Header() http.Header              { return r.header }
func (r *reader) WriteHeader(int)                  {}
func (r *reader) Flush()                           {}
func (r *reader) SetWriteDeadline(time.Time) error { return nil }
func (r *reader) Write(text []byte) (int, error) {
	select {
	case r.events <- string(text):
		return len(text), nil
	case <-r.left.Done():
		return 0, errors.New("the client is gone")
	}
}

// follows starts a stream of a caller.
func (b *bench) follows(caller, query, variables string) *reader {
	b.Helper()
	ctx, cancel := context.WithCancel(transport.WithRequestID(b.Context(), caller))
	r := &reader{T: b.T, header: http.Header{}, events: make(chan string), left: ctx}
	body := `{"query":` + strconv.Quote(query) + `,"variables":` + variables + `}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	fatal.If(b, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", streamType)
	var served sync.WaitGroup
	served.Go(func() { b.engine.ServeHTTP(r, request) })
	r.leave = func() { cancel(); served.Wait() }
	b.Cleanup(r.leave)
	<-r.events // the comment that begins the stream
	return r
}

func (r *reader) take() string {
	r.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case event := <-r.events:
			if event != ":\n\n" {
				return event
			}
		case <-deadline:
			r.Fatal("no event came")
		}
	}
}

// number takes an event and returns which of the flood it is.
func (r *reader) number() int {
	r.Helper()
	event := r.take()
	_, after, _ := strings.Cut(event, `"Item `)
	digits, _, _ := strings.Cut(after, `"`)
	n, err := strconv.Atoi(digits)
	if err != nil {
		r.Fatal(event)
	}
	return n
}

// goOn takes events, none of which may be missing.
func (r *reader) goOn(after, events int) (last int) {
	r.Helper()
	for last = after; last < after+events; last++ {
		if n := r.number(); n != last+1 {
			r.Fatalf("event %d comes after %d", n, last)
		}
	}
	return last
}

// ends wants the event to be the last, with all of the parts.
func (r *reader) ends(event string, parts ...string) {
	r.Helper()
	for _, part := range parts {
		if !strings.Contains(event, part) {
			r.Errorf("got %s\nwant %s", event, part)
		}
	}
	if last := r.take(); last != "event: complete\ndata:\n\n" {
		r.Error(last)
	}
}

func (b *bench) executions(want int) {
	b.Helper()
	b.eventually(strconv.Itoa(want)+" executions", func() bool { return int(b.resolvers.Streams.Load()) == want })
}

func TestOnlyEqualFollowersShareAnExecution(t *testing.T) {
	b := newBench(t, shared)
	for i, c := range []struct {
		caller, query, variables string
		executions               int
	}{
		{"ada", flood, `{}`, 1},
		{"ada", flood, `{}`, 1},
		{"bob", flood, `{}`, 2},
		{"ada", "subscription {flood{name}}", `{}`, 3},
		{"ada", "subscription S($a: Boolean! = true){flood{name size @include(if:$a)}}", `{}`, 4},
		{"ada", "subscription S($a: Boolean! = true){flood{name size @include(if:$a)}}", `{"a":true}`, 4},
		{"ada", "subscription S($a: Boolean! = true){flood{name size @include(if:$a)}}", `{"a":false}`, 5},
		{"ada", "subscription {count(to: 1000000)}", `{}`, 6},
		{"ada", "subscription {count(to: 1000000)}", `{}`, 7},
	} {
		r := b.follows(c.caller, c.query, c.variables)
		event := r.take()
		if strings.Contains(c.query, "flood") && strings.Contains(event, `"size"`) != (c.executions == 4) {
			t.Error(i, event)
		}
		b.executions(c.executions)
	}
}

func TestASlowFollowerNeitherDelaysOthersNorMakesThemLoseEvents(t *testing.T) {
	for name, most := range map[string]struct{ events, bytes, together int }{
		"events": {events: 300}, "bytes": {bytes: 100_000}, "all bytes": {together: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, shared)
			b.engine.SetBehind(most.events, most.bytes, most.together)
			fast, slow := b.follows("ada", flood, `{}`), b.follows("ada", flood, `{}`)
			at, last := fast.number(), slow.number()
			for range 20 {
				at = fast.goOn(at, 100)
				if events, bytes, _ := b.engine.Waiting(); events > 350 || bytes > 100_000 {
					t.Fatalf("%d events of %d bytes wait", events, bytes)
				}
			}
			event := slow.take()
			for n := 1; n <= onTheWay && strings.Contains(event, fmt.Sprintf(`"Item %d"`, last+n)); n++ {
				event = slow.take()
			}
			slow.ends(event, `{"errors":[{"message":"events were not read fast enough: read again and subscribe again"`, `"path":["flood"]`,
				`"code":"RATE_LIMITED"`, `"requestId":"ada"`, `"data":null`)
			fast.goOn(at, 100)
			b.executions(1)
		})
	}
}

// What is not taken waits where the source adds it up.
func TestAFollowerAloneSetsThePace(t *testing.T) {
	b := newBench(t, shared)
	b.engine.SetBehind(1, 1, 1)
	slow := b.follows("ada", flood, `{}`)
	last := slow.number()
	b.eventually("the lead is used up", func() bool { events, _, _ := b.engine.Waiting(); return events == transport.Lead })
	time.Sleep(50 * time.Millisecond)
	if events, _, _ := b.engine.Waiting(); events != transport.Lead {
		t.Errorf("%d events wait", events)
	}
	slow.goOn(last, 10*transport.Lead)
}

// However soon an execution makes events, the follower that starts it gets all of them.
func TestTheFirstFollowerGetsTheFirstEvent(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // the system stops threads anywhere
	b := newBench(t, shared)
	var followers sync.WaitGroup
	for i := range 500 {
		followers.Go(func() {
			r := b.follows(strconv.Itoa(i), flood, `{}`)
			if n := r.number(); n != 1 {
				t.Errorf("event %d is the first", n)
			}
			r.leave()
		})
	}
	followers.Wait()
}

func TestALateFollowerGetsWhatComesNext(t *testing.T) {
	b := newBench(t, shared)
	first := b.follows("ada", flood, `{}`)
	at := first.goOn(0, 500)
	late := b.follows("ada", flood, `{}`)
	from := late.number()
	if from <= at {
		t.Errorf("the late one begins at %d, before %d", from, at)
	}
	late.goOn(from, 500) // though the first one takes nothing
	first.goOn(at, 500)
	b.executions(1)
}

func TestAnExecutionEndsWithItsLastFollower(t *testing.T) {
	b := newBench(t, shared)
	before := runtime.NumGoroutine()
	var all []*reader
	for range 50 {
		all = append(all, b.follows("ada", flood, `{}`))
	}
	b.executions(1)
	all[49].number()
	for _, r := range all[:49] {
		r.leave()
	}
	all[49].goOn(all[49].number(), 3*transport.Lead)
	all[49].leave()
	b.noStreams()
	b.eventually("no goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	if events, bytes, of := b.engine.Waiting(); events+bytes+of != 0 {
		t.Errorf("%d events of %d bytes wait in %d broadcasts", events, bytes, of)
	}
	if n := b.follows("ada", flood, `{}`).number(); n != 1 {
		t.Errorf("another execution begins with event %d", n)
	}
}

func TestFollowersThatComeAndGoLoseNothingBetween(t *testing.T) {
	b := newBench(t, shared)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := range 400 {
				r := b.follows("ada", flood, `{}`)
				r.goOn(r.number(), n%7)
				r.leave()
			}
		})
	}
	all.Wait()
	b.noStreams()
	if events, bytes, of := b.engine.Waiting(); events+bytes+of != 0 {
		t.Errorf("%d events of %d bytes wait in %d broadcasts", events, bytes, of)
	}
}

func TestEachFollowerIsRefusedByItself(t *testing.T) {
	var callers sync.Map
	b := newBench(t, func(c *transport.Config) {
		c.Share = func(context.Context, *ast.OperationDefinition) (context.Context, any) {
			return context.Background(), "all"
		}
		c.BeforeEvent = func(ctx context.Context) { callers.Store(transport.RequestID(ctx), true) }
		c.StillValid = func(ctx context.Context) error {
			if transport.RequestID(ctx) == "bob" {
				return errors.New("signed out")
			}
			return nil
		}
		c.Timing = transport.DefaultTiming()
		c.Timing.Revalidate = 300 * time.Millisecond
	})
	for _, caller := range []string{"ada", "bob"} {
		for query, code := range map[string]string{"subscription{refused}": "FORBIDDEN", "subscription{panicking}": "INTERNAL_ERROR"} {
			r := b.follows(caller, query, `{}`)
			r.ends(r.take(), code, `"requestId":"`+caller+`"`)
		}
	}
	// The comment that begins a stream comes before it follows: ada follows once the event is there.
	ada := b.follows("ada", "subscription{forever}", `{}`)
	if event := ada.take(); !strings.Contains(event, `{"forever":1}`) {
		t.Error(event)
	}
	bob := b.follows("bob", "subscription{forever}", `{}`)
	b.executions(1)
	bob.ends(bob.take(), "INTERNAL_ERROR", `"requestId":"bob"`)
	b.executions(1)
	if _, noted := callers.Load("ada"); !noted {
		t.Error("the event is not noted for its follower")
	}
}
