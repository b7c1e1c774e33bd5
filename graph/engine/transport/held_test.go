package transport_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
	"simgraph/internal/held"
)

const (
	megabyte = 1 << 20
	// large does not fit where one megabyte more does not.
	large = megabyte * 3 / 4
)

// filled reads bodies of one megabyte until there is no room for another, as others might do,
// and returns how many there were.
func filled(t *testing.T) (n int, release func()) {
	t.Helper()
	var readers []*held.Reader
	release = func() {
		for _, r := range readers {
			r.Release()
		}
	}
	t.Cleanup(release)
	for {
		r := held.NewReader(strings.NewReader(strings.Repeat("x", megabyte)), "", megabyte)
		readers = append(readers, r)
		if _, err := io.ReadAll(r); err != nil {
			if !errors.Is(err, held.ErrFull) {
				t.Fatal(err)
			}
			r.Release()
			return len(readers) - 1, release
		}
	}
}

func padded(bytes int) string {
	return `{"query":"{hello}","extensions":{"x":"` + strings.Repeat("x", bytes) + `"}}`
}

func TestLargeBodiesAreRefusedWhereThereIsNoRoomAndSmallOnesAreNot(t *testing.T) {
	b := newBench(t, nil)
	_, release := filled(t)
	if got := b.post(padded(large)); got.status != 503 || got.codes() != "UNAVAILABLE" || got.header.Get("Retry-After") != "1" {
		t.Error(got.status, got.body, got.header)
	}
	if got := b.post(padded(held.Free / 2)); got.status != 200 {
		t.Error(got.status, got.body)
	}
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":` + padded(held.Free/2) + `}`)
	w.expect(`"next"`)
	w.expect(`"complete"`)
	w.send(`{"type":"subscribe","id":"1","payload":` + padded(large) + `}`)
	w.closes(int(websocket.StatusTryAgainLater), "Too many large messages are being read")
	release()
	if got := b.post(padded(large)); got.status != 200 {
		t.Error(got.status, got.body)
	}
}

// Subscriptions, and clients that do not end a message, hold no room of others for long.
func TestRoomIsGivenBackWithTheMessage(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Message = time.Second // large messages take a part of it on a busy machine
	})
	most, release := filled(t)
	release()
	w := b.ready()
	endless := strings.Replace(padded(large), "{hello}", "subscription{forever}", 1)
	w.send(`{"type":"subscribe","id":"1","payload":` + endless + `}`)
	w.expect(`{"forever":1}`)
	w.send(`{"type":"subscribe","id":"1","payload":` + padded(large) + `}`)
	w.closes(4409, "Subscriber for 1 already exists")
	w = b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":` + strings.Replace(padded(large), "{hello}", "{nothing}", 1) + `}`)
	w.expect(`"error"`)
	lines, _ := b.stream(endless)
	until(t, lines, `{"forever":1}`)

	w = b.ready()
	message, err := w.conn.Writer(t.Context(), websocket.MessageText)
	fatal.If(t, err)
	if _, err := io.WriteString(message, strings.Repeat(" ", large)); err != nil {
		t.Fatal(err)
	}
	w.closes(4408, "Message timeout")
	deadline := time.Now().Add(10 * time.Second)
	for {
		now, release := filled(t)
		release()
		if now == most {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is room for %d bodies of %d", now, most)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
