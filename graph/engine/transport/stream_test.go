package transport_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
)

const streamType = "text/event-stream"

func (b *bench) events(query string) reply {
	b.Helper()
	return b.do(http.MethodPost, b.url, `{"query":"`+query+`"}`, "Content-Type", "application/json", "Accept", streamType)
}

// open begins a stream that the test ends by cancel.
func (b *bench) open(query string) (lines *bufio.Scanner, cancel context.CancelFunc) {
	b.Helper()
	return b.stream(`{"query":"` + query + `"}`)
}

func (b *bench) stream(body string) (lines *bufio.Scanner, cancel context.CancelFunc) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, b.url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", streamType)
	resp, err := http.DefaultClient.Do(r)
	fatal.If(b, err)
	b.Cleanup(func() { resp.Body.Close() })
	return bufio.NewScanner(resp.Body), cancel
}

// until reads lines up to one that has the text.
func until(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("the stream ended without %q: %v", text, lines.Err())
}

func (b *bench) eventually(what string, holds func() bool) {
	b.Helper()
	for range 3000 { // a busy machine needs some seconds to fill a socket
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("never: " + what)
}

func (b *bench) noStreams() {
	b.Helper()
	b.eventually("all streams have ended", func() bool { return b.resolvers.Streams.Load() == 0 })
}

func TestEventsFollowTheDistinctConnectionsMode(t *testing.T) {
	b := newBench(t, nil)
	want := ":\n\nevent: next\ndata: {\"data\":{\"count\":1},\"extensions\":{\"cost\":0}}\n\n" +
		"event: next\ndata: {\"data\":{\"count\":2},\"extensions\":{\"cost\":0}}\n\nevent: complete\ndata:\n\n"
	got := b.events("subscription{count(to:2)}")
	if got.status != 200 || got.body != want || got.header.Get("Content-Type") != streamType+"; charset=utf-8" {
		t.Errorf("%d %q", got.status, got.body)
	}
	got = b.do("GET", b.url+"?query=subscription{count(to:2)}", "", "Accept", streamType)
	if got.status != 200 || got.body != want {
		t.Errorf("%d %q", got.status, got.body)
	}
}

func TestQueriesAndErrorsAreEventsToo(t *testing.T) {
	b := newBench(t, nil)
	for query, want := range map[string]string{
		"{hello}":                 `"world"`,
		"mutation{increment}":     `"increment":1`,
		"{nope}":                  "GRAPHQL_VALIDATION_FAILED",
		"{":                       "GRAPHQL_PARSE_FAILED",
		"subscription{refused}":   "FORBIDDEN",
		"subscription{panicking}": "INTERNAL_ERROR",
	} {
		got := b.events(query)
		if got.status != 200 || !strings.Contains(got.body, want) || !strings.HasSuffix(got.body, "\n\nevent: complete\ndata:\n\n") {
			t.Errorf("%s: %q", query, got.body)
		}
	}
}

func TestASubscriptionStreamsWhereverItMay(t *testing.T) {
	b := newBench(t, nil)
	got := b.do(http.MethodPost, b.url, `{"query":"subscription{count(to:1)}"}`, "Content-Type", "application/json",
		"Accept", "application/graphql-response+json, application/json, text/event-stream;q=0.1")
	if got.header.Get("Content-Type") != streamType+"; charset=utf-8" {
		t.Error(got)
	}
}

func TestAStreamOutlivesTheReadTimeoutAndIsKeptAlive(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Ping = 100 * time.Millisecond
	})
	lines, cancel := b.open("subscription{forever}")
	until(t, lines, `{"forever":1}`)
	begin := time.Now()
	for time.Since(begin) < 2500*time.Millisecond { // ReadTimeout is 2 s
		until(t, lines, ":")
	}
	cancel()
	b.noStreams()
}

func TestAStreamEndsWithItsToken(t *testing.T) {
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
	lines, _ := b.open("subscription{forever}")
	until(t, lines, `{"forever":1}`)
	revoked.Store(true)
	until(t, lines, `"errors"`)
	until(t, lines, "event: complete")
	b.noStreams()
}

func TestAnIdleStreamOverHTTP2OutlivesTheDeadlineOfAWrite(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Write, c.Timing.Ping = 50*time.Millisecond, 500*time.Millisecond
	})
	server := httptest.NewUnstartedServer(b.engine)
	server.EnableHTTP2 = true
	server.Config.WriteTimeout = 200 * time.Millisecond
	server.StartTLS()
	defer server.Close()
	defer b.engine.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"?query="+url.QueryEscape("subscription{forever}"), nil)
	fatal.If(t, err)
	r.Header.Set("Accept", "text/event-stream")
	resp, err := server.Client().Do(r)
	fatal.If(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for comments := 0; comments < 3; { // the first is written at once, the others are pings
		if !lines.Scan() {
			t.Fatalf("%s ended: %v", resp.Proto, lines.Err())
		}
		if lines.Text() == ":" {
			comments++
		}
	}
}

func TestAReaderThatStallsIsCutOff(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Timing = transport.DefaultTiming()
		c.Timing.Write = 100 * time.Millisecond
	})
	lines, _ := b.open("subscription{flood{id name tags}}")
	until(t, lines, "event: next")
	b.noStreams()
}

func TestCloseEndsStreams(t *testing.T) {
	b := newBench(t, nil)
	lines, _ := b.open("subscription{forever}")
	until(t, lines, `{"forever":1}`)
	b.engine.Close()
	b.noStreams()
}
