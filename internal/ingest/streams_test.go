package ingest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/held"
	"simgraph/internal/ingest"
)

// newStreams returns a handler that takes one stream at a time.
func newStreams() *ingest.Handler {
	caller := &domain.Caller{Permissions: []domain.Permission{domain.RecordUsage}, Company: &domain.Company{ExternalID: "acme"}}
	return ingest.New(ingest.Config{
		Usage: &failing{}, Log: slog.New(slog.DiscardHandler), Streams: 1, StillValid: func(context.Context) error { return nil },
		Admit: func(r *http.Request) (context.Context, error) { return domain.WithCaller(r.Context(), caller), nil },
	})
}

func stream(t *testing.T, to http.Handler, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, ingest.Path, body)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	to.ServeHTTP(w, r)
	return w
}

func TestAsManyStreamsAreTakenAsMayBe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := newStreams()
		body, client := io.Pipe()
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- stream(t, handler, body) }()
		synctest.Wait()
		for range 2 { // a refused stream holds no place
			if w := stream(t, handler, strings.NewReader(line(1, ""))); w.Code != 429 || w.Header().Get("Retry-After") != "1" {
				t.Errorf("beside another: %d %v", w.Code, w.Header())
			}
		}
		_ = client.Close()
		if w := <-first; w.Code != 200 {
			t.Errorf("the first: %d %s", w.Code, w.Body)
		}
		for n := range 2 {
			if w := stream(t, handler, strings.NewReader(line(n, ""))); w.Code != 200 {
				t.Errorf("after it: %d %s", w.Code, w.Body)
			}
		}
	})
}

func TestABodyIsUncompressedNDJSON(t *testing.T) {
	t.Parallel()
	handler := newStreams()
	for _, c := range []struct {
		name, value string
		status      int
	}{
		{"Content-Type", "", 200}, {"Content-Type", "application/x-ndjson; charset=utf-8", 200}, {"Content-Type", "application/ndjson", 200},
		{"Content-Type", "application/jsonl", 200}, {"Content-Type", "application/json", 200}, {"Content-Type", "text/csv", 415},
		{"Content-Type", ";", 415}, {"Content-Encoding", "gzip", 415},
	} {
		if w := stream(t, handler, strings.NewReader(line(1, "")), c.name, c.value); w.Code != c.status {
			t.Errorf("%s: %s: got %d, want %d", c.name, c.value, w.Code, c.status)
		}
	}
}

// What streams hold of lines that do not end is bounded. Other streams go on, and so do those of
// lines that are too long, of which the rest is not kept.
func TestLongLinesThatDoNotEndAreBoundedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := newStreams()
		handler.Streams = 64
		ends := make(chan *httptest.ResponseRecorder, handler.Streams)
		var clients []*io.PipeWriter
		for range handler.Streams / 2 {
			body, client := io.Pipe()
			clients = append(clients, client)
			go func() { ends <- stream(t, handler, body) }()
			go func() { _, _ = io.WriteString(client, strings.Repeat(" ", bundle.MaxLine)) }()
			synctest.Wait()
		}
		refused := len(ends)
		if most := held.Most / bundle.MaxLine; refused < handler.Streams/2-most || refused == len(clients) {
			t.Errorf("%d of %d streams are refused", refused, len(clients))
		}
		for range refused {
			if w := <-ends; w.Code != 503 || w.Header().Get("Retry-After") != "1" {
				t.Errorf("refused with %d %v %s", w.Code, w.Header(), w.Body)
			}
		}
		if w := stream(t, handler, strings.NewReader(line(1, ""))); w.Code != 200 {
			t.Errorf("a short line: %d %s", w.Code, w.Body)
		}
		for _, client := range clients {
			_ = client.Close()
		}
		for range len(clients) - refused {
			<-ends
		}
		long := strings.Repeat(" ", 2*held.Most) + "\n" + line(1, "")
		if w := stream(t, handler, strings.NewReader(long)); w.Code != 200 || strings.Count(w.Body.String(), "\n") != 2 {
			t.Errorf("after a line that is too long: %d %s", w.Code, w.Body)
		}
	})
}

// Of records that claim the same id in different batches, the first one of the stream
// has it, though the batches are booked side by side.
func TestALongStreamIsJudgedInItsOrder(t *testing.T) {
	t.Parallel()
	const lines, every, back = 22_000, 500, 6_001
	// status is what is expected of a line; some repeat the id of one before.
	status := func(n int) string {
		switch {
		case n > back && n%every == 0:
			return "duplicate"
		case n > back && n%every == 2:
			return "conflict"
		}
		return "accepted"
	}
	d := newFixture(t)
	body, input := io.Pipe()
	go func() {
		for n := range lines {
			text := line(n, "")
			switch status(n) {
			case "duplicate":
				text = line(n-back, "")
			case "conflict":
				text = strings.Replace(line(n-back, ""), `"mobileOriginated":1`, `"mobileOriginated":7`, 1)
			}
			if _, err := io.WriteString(input, text); err != nil {
				return
			}
		}
		_ = input.Close()
	}()
	results := d.results(d.send(body))
	if len(results) != lines {
		t.Fatalf("%d of %d lines are answered", len(results), lines)
	}
	accepted := 0
	for n, r := range results {
		if r.Line != n+1 || r.Status != status(n) {
			t.Fatalf("line %d is answered %+v, want %s", n+1, r, status(n))
		}
		if r.Status == "accepted" {
			accepted++
		}
	}
	if got := d.booked(); got != accepted {
		t.Errorf("%d records are booked, want %d", got, accepted)
	}
}

// A request of one record takes the memory of one, not of a whole batch: many senders of
// single records are served at a time. It is not parallel: allocations are counted for the
// whole process.
func TestARequestOfOneRecordAllocatesLittle(t *testing.T) {
	const atMost = 64 << 10
	handler := newStreams()
	measured := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			stream(t, handler, strings.NewReader(line(1, "")))
		}
	})
	if got := measured.AllocedBytesPerOp(); got > atMost {
		t.Errorf("a request allocates %d bytes, more than %d", got, atMost)
	}
}
