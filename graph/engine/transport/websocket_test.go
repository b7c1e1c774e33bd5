package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
	"simgraph/internal/fatal"
)

// wire is the client's end of a WebSocket.
type wire struct {
	*bench
	conn *websocket.Conn
}

func (b *bench) dial(protocols ...string) *wire {
	b.Helper()
	conn, _, err := websocket.Dial(b.Context(), b.url, &websocket.DialOptions{Subprotocols: protocols, HTTPClient: b.client})
	fatal.If(b, err)
	conn.SetReadLimit(1 << 20)
	b.Cleanup(func() { _ = conn.CloseNow() })
	return &wire{bench: b, conn: conn}
}

// ready is a wire that has been acknowledged.
func (b *bench) ready() *wire {
	b.Helper()
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"connection_init"}`)
	w.expect(`{"type":"connection_ack"}`)
	return w
}

func (w *wire) send(message string) {
	w.Helper()
	fatal.If(w, w.conn.Write(w.Context(), websocket.MessageText, []byte(message)))
}

func (w *wire) receive() (string, error) {
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	_, data, err := w.conn.Read(ctx)
	return string(data), err
}

func (w *wire) expect(parts ...string) {
	w.Helper()
	got, err := w.receive()
	fatal.If(w, err)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			w.Fatalf("got %s\nwant %s", got, part)
		}
	}
}

func (w *wire) closes(code int, reason string) {
	w.Helper()
	got, err := w.receive()
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		w.Fatalf("got %s, %v, want code %d", got, err, code)
	}
	if int(closed.Code) != code || closed.Reason != reason {
		w.Fatalf("got %v, want %d %s", closed, code, reason)
	}
}

func TestOnlyTheCurrentProtocolIsSpoken(t *testing.T) {
	b := newBench(t, nil)
	for _, protocols := range [][]string{nil, {"graphql-ws"}, {"other"}} {
		b.dial(protocols...).closes(4406, "Subprotocol not acceptable")
	}
	if w := b.dial("graphql-ws", "graphql-transport-ws"); w.conn.Subprotocol() != "graphql-transport-ws" {
		t.Error(w.conn.Subprotocol())
	}
}

func TestMalformedMessagesEndTheConnection(t *testing.T) {
	b := newBench(t, nil)
	for _, message := range []string{
		"", "x", "null", "[]", "{}", `"ping"`, `{"type":1}`, `{"type":"unknown"}`, `{"type":"PING"}`, `{"Type":"ping"}`,
		`{"type":"ping"}{}`, `{"type":"ping","payload":[]}`, `{"type":"ping","payload":null}`, `{"type":"pong","payload":"x"}`,
		`{"type":"connection_init","payload":1}`, `{"type":"connection_ack"}`, `{"type":"next","id":"1","payload":{}}`,
		`{"type":"complete"}`, `{"type":"complete","id":""}`, `{"type":"complete","id":1}`, `{"type":"start","id":"1"}`,
		`{"type":"subscribe","payload":{"query":"{hello}"}}`, `{"type":"subscribe","id":"","payload":{"query":"{hello}"}}`,
		`{"type":"subscribe","id":7,"payload":{"query":"{hello}"}}`, `{"type":"subscribe","id":"1"}`,
		`{"type":"subscribe","id":"1","payload":{}}`, `{"type":"subscribe","id":"1","payload":"{hello}"}`,
		`{"type":"subscribe","id":"1","payload":{"query":1}}`, `{"type":"subscribe","id":"1","payload":{"query":"{hello}","variables":[]}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"{hello}","operationName":1}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"{hello}","extensions":""}}`,
		`{"type":"subscribe","id":"` + strings.Repeat("x", 513) + `","payload":{"query":"{hello}"}}`,
		`{"type":"ping","x":"` + "\xff" + `"}`, `{"type":"ping","x":"\ud800"}`,
	} {
		w := b.ready()
		w.send(message)
		w.closes(4400, "Invalid message received")
	}
	w := b.ready()
	fatal.If(t, w.conn.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)))
	w.closes(4400, "Invalid message received")
}

func TestAMessageHasAtMostOneMegabyte(t *testing.T) {
	w := newBench(t, nil).ready()
	w.send(`{"type":"ping","payload":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`)
	if _, err := w.receive(); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Error(err)
	}
}

func TestPingIsAnsweredAtAnyTime(t *testing.T) {
	b := newBench(t, nil)
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"ping"}`)
	w.expect(`{"type":"pong"}`)
	w.send(`{"type":"pong"}`)
	w.send(`{"type":"connection_init","payload":{}}`)
	w.expect(`{"type":"connection_ack"}`)
	w.send(`{"type":"ping","payload":{"a":[1]}}`)
	w.expect(`{"type":"pong","payload":{"a":[1]}}`)
}

func TestTheHandshakeOfTheProtocolIsKept(t *testing.T) {
	b := newBench(t, nil)
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"{hello}"}}`)
	w.closes(4401, "Unauthorized")
	w = b.ready()
	w.send(`{"type":"connection_init"}`)
	w.closes(4429, "Too many initialisation requests")
}

func TestAConnectionIsClosedUnlessItIsInitialisedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pipedBench(t)
		late, ready := b.dial("graphql-transport-ws"), b.ready()
		alive := func(w *wire) {
			t.Helper()
			w.send(`{"type":"ping"}`)
			w.expect("pong")
		}
		time.Sleep(transport.DefaultTiming().Init - time.Nanosecond)
		alive(late)
		time.Sleep(time.Nanosecond)
		late.closes(4408, "Connection initialisation timeout")
		time.Sleep(time.Second)
		alive(ready)
	})
}

func TestQueriesMutationsAndSubscriptionsRun(t *testing.T) {
	w := newBench(t, nil).ready()
	w.send(`{"type":"subscribe","id":"q","payload":{"query":"query($v:Int){integer(value:$v)}","variables":{"v":2}}}`)
	w.expect(`{"type":"next","id":"q","payload":{"data":{"integer":"[2,4]"}`)
	w.expect(`{"type":"complete","id":"q"}`)
	w.send(`{"type":"subscribe","id":"q","payload":{"query":"mutation A{increment} query B{hello}","operationName":"A"}}`)
	w.expect(`"next"`, `{"increment":1}`)
	w.expect(`{"type":"complete","id":"q"}`)
	w.send(`{"type":"subscribe","id":"s\"1","payload":{"query":"subscription{count(to:2)}"}}`)
	w.expect(`{"type":"next","id":"s\"1"`, `{"count":1}`)
	w.expect(`{"count":2}`)
	w.expect(`{"type":"complete","id":"s\"1"}`)
}

func TestErrorsEndAnOperationWithoutComplete(t *testing.T) {
	w := newBench(t, nil).ready()
	for query, code := range map[string]string{
		"{": "GRAPHQL_PARSE_FAILED", "{nope}": "GRAPHQL_VALIDATION_FAILED", "query($v:Int!){integer(value:$v)}": "BAD_USER_INPUT",
		"query A{hello} query B{hello}": "OPERATION_RESOLUTION_FAILURE", "subscription{refused}": "FORBIDDEN",
		"subscription{panicking}": "INTERNAL_ERROR",
	} {
		w.send(`{"type":"subscribe","id":"1","payload":{"query":"` + query + `"}}`)
		w.expect(`{"type":"error","id":"1","payload":[{`, code)
		w.send(`{"type":"ping"}`)
		w.expect("pong")
	}
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"{fail(kind:\"x\")}"}}`)
	w.expect(`"next"`, `"data":{"fail":null}`, "INTERNAL_ERROR")
	w.expect(`{"type":"complete","id":"1"}`)
}

func TestAnIDIsFreeAgainOnceItsOperationEnds(t *testing.T) {
	b := newBench(t, nil)
	w := b.ready()
	for range 50 {
		w.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{forever}"}}`)
		w.expect(`"next"`, `{"forever":1}`)
		w.send(`{"type":"complete","id":"1"}`)
	}
	w.send(`{"type":"complete","id":"1"}`)
	w.send(`{"type":"complete","id":"unknown"}`)
	w.send(`{"type":"ping"}`)
	w.expect("pong")
	b.noStreams()
}

func TestAnIDInUseEndsTheConnection(t *testing.T) {
	b := newBench(t, nil)
	w := b.ready()
	w.send(`{"type":"subscribe","id":"a","payload":{"query":"subscription{forever}"}}`)
	w.expect(`{"forever":1}`)
	w.send(`{"type":"subscribe","id":"a","payload":{"query":"{hello}"}}`)
	w.closes(4409, "Subscriber for a already exists")
	b.noStreams()
	w = b.ready()
	long := strings.Repeat("ä", 200)
	subscribe := `{"type":"subscribe","id":"` + long + `","payload":{"query":"subscription{forever}"}}`
	w.send(subscribe)
	w.expect(`{"forever":1}`)
	w.send(subscribe)
	w.closes(4409, "Subscriber for "+strings.Repeat("ä", 40)+"… already exists")
}

func TestAConnectionRunsABoundedNumberOfOperations(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Limits = transport.DefaultLimits()
		c.Limits.Subscriptions = 3
	})
	w := b.ready()
	for i := range 3 {
		w.send(fmt.Sprintf(`{"type":"subscribe","id":"%d","payload":{"query":"subscription{forever}"}}`, i))
		w.expect(`{"forever":1}`)
	}
	w.send(`{"type":"subscribe","id":"4","payload":{"query":"{hello}"}}`)
	w.expect(`{"type":"error","id":"4"`, "TOO_MANY_SUBSCRIPTIONS")
	w.send(`{"type":"complete","id":"1"}`)
	w.send(`{"type":"subscribe","id":"4","payload":{"query":"{hello}"}}`)
	w.expect(`"next"`, "world")
}

type userKey struct{}

func TestTheInitPayloadAuthenticates(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Authenticate = func(ctx context.Context, payload map[string]any) (context.Context, error) {
			if payload["token"] != "good" {
				return nil, errors.New("bad token")
			}
			return context.WithValue(ctx, userKey{}, int32(42)), nil
		}
		c.PerResponse = func(ctx context.Context) context.Context {
			user, _ := ctx.Value(userKey{}).(int32)
			return testschema.WithResponse(ctx, user)
		}
	})
	for _, init := range []string{`{"type":"connection_init"}`, `{"type":"connection_init","payload":{"token":"bad"}}`} {
		w := b.dial("graphql-transport-ws")
		w.send(init)
		w.closes(4403, "Forbidden")
	}
	w := b.dial("graphql-transport-ws")
	w.send(`{"type":"connection_init","payload":{"token":"good"}}`)
	w.expect("connection_ack")
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"{responses}"}}`)
	w.expect(`{"responses":42}`)
}

func TestAConnectionEndsWithItsToken(t *testing.T) {
	var revoked atomic.Bool
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Revalidate = 20 * time.Millisecond
		c.StillValid = func(context.Context) error {
			if revoked.Load() {
				return errors.New("revoked")
			}
			return nil
		}
	})
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{forever}"}}`)
	w.expect(`{"forever":1}`)
	revoked.Store(true)
	w.closes(4403, "Forbidden")
	b.noStreams()
}

func TestASilentPeerIsCutOff(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Ping = 50 * time.Millisecond
	})
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{forever}"}}`)
	w.expect(`{"forever":1}`)
	// Pings are answered only while somebody reads.
	b.noStreams()
}

func TestASlowReaderHoldsUpNobodyElse(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Write = 300 * time.Millisecond
	})
	slow := b.ready()
	slow.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{flood{id name tags}}"}}`)
	quick := b.ready()
	for range 20 {
		quick.send(`{"type":"subscribe","id":"1","payload":{"query":"{hello}"}}`)
		quick.expect("world")
		quick.expect("complete")
	}
	b.noStreams()
}

func TestCloseEndsWebSockets(t *testing.T) {
	b := newBench(t, nil)
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"subscription{forever}"}}`)
	w.expect(`{"forever":1}`)
	go b.engine.Close()
	w.closes(1001, "The server is shutting down")
	b.noStreams()
}

func TestAMutationIsAnsweredBeforeItsWebSocketIsClosed(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(c *transport.Config) {
		c.Enter = func(_ context.Context, kind ast.Operation) (func(), error) {
			if kind == ast.Mutation {
				close(begun)
				<-goOn
			}
			return func() {}, nil
		}
	})
	w := b.ready()
	w.send(`{"type":"subscribe","id":"s","payload":{"query":"subscription{forever}"}}`)
	w.expect(`{"forever":1}`)
	w.send(`{"type":"subscribe","id":"m","payload":{"query":"mutation{increment}"}}`)
	<-begun
	drained := make(chan struct{})
	go func() { b.engine.Drain(t.Context()); close(drained) }()
	b.noStreams()
	w.send(`{"type":"subscribe","id":"late","payload":{"query":"{hello}"}}`)
	w.send(`{"type":"ping"}`)
	w.expect(`{"type":"pong"}`)
	close(goOn)
	w.expect(`"next","id":"m"`, `"increment":1`)
	w.expect(`"complete","id":"m"`)
	w.closes(1001, "The server is shutting down")
	<-drained
	if _, answer, err := websocket.Dial(t.Context(), b.url, nil); err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a WebSocket is opened on a server that closes: %v", err)
	}
}

func TestAClientThatLeavesEndsItsOperations(t *testing.T) {
	b := newBench(t, nil)
	w := b.ready()
	for i := range 10 {
		w.send(fmt.Sprintf(`{"type":"subscribe","id":"%d","payload":{"query":"subscription{forever}"}}`, i))
		w.expect(`{"forever":1}`)
	}
	_ = w.conn.CloseNow()
	b.noStreams()
}

func TestABrokenHandshakeIsRefused(t *testing.T) {
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	r := httptest.NewRequest(http.MethodGet, "/graphql", nil)
	r.Header.Set("Upgrade", "websocket")
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	if w.Code != 426 {
		t.Error(w.Code)
	}
}
