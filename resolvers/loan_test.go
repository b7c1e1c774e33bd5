package resolvers_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"simgraph/domain"
)

// broken refuses what is written after the headers and goes on to read it, as
// HTTP/2 may do with the memory of a stream that its client has reset.
type broken struct {
	http.ResponseWriter
	fails       int // from which write on
	given, read []byte
}

func (b *broken) Write(p []byte) (int, error) {
	if b.fails--; b.fails >= 0 {
		return b.ResponseWriter.Write(p)
	}
	if b.given == nil {
		b.given, b.read = p, bytes.Clone(p)
	}
	return 0, errors.New("the stream is closed")
}

func TestMemoryThatWasRefusedIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ctx := domain.WithCaller(t.Context(), s.caller)
	for fails, query := range []string{
		`{subscribers(first: 3) {nodes {physicalId nickname}} missing: subscriber(by: {physicalId: \"none\"}) {nickname}}`,
		`{subscribers(first: 9) {nodes {physicalId}}}`,
	} {
		for range 5 {
			s.ask(t, `{subscribers(first: 99) {nodes {physicalId nickname}}}`) // memory with room
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", strings.NewReader(`{"query":"`+query+`"}`))
		r.Header.Set("Content-Type", "application/json")
		w := &broken{ResponseWriter: httptest.NewRecorder(), fails: fails}
		s.engine.ServeHTTP(w, r)
		for range 20 {
			s.ask(t, `{tags(first: 3) {nodes {name}} missing: subscriber(by: {physicalId: "other"}) {nickname}}`)
		}
		if len(w.read) == 0 || !bytes.Equal(w.given, w.read) {
			t.Errorf("%s became %s", w.read, w.given)
		}
	}
}
