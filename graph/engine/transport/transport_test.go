package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
	"simgraph/internal/fatal"
)

// bench is a server of the test schema and what it logs.
type bench struct {
	*testing.T
	engine    *transport.Server
	url       string
	resolvers *testschema.Resolvers
	log       *syncBuffer
	// client is http.DefaultClient when it is nil.
	client *http.Client
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// present shows errors of the domain, as the real server does.
func present(_ context.Context, err error) *gqlerror.Error {
	public, ok := domain.AsError(err)
	if !ok {
		return nil
	}
	out := &gqlerror.Error{Message: public.Message}
	errcode.Set(out, string(public.Kind))
	return out
}

func newBench(t *testing.T, change func(*transport.Config)) *bench {
	t.Helper()
	b := &bench{T: t, resolvers: new(testschema.Resolvers), log: new(syncBuffer)}
	cfg := transport.Config{Log: slog.New(slog.NewTextHandler(b.log, nil)), Present: present}
	if change != nil {
		change(&cfg)
	}
	b.engine = transport.New(testschema.New(b.resolvers), cfg)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.engine.ServeHTTP(w, r.WithContext(transport.WithRequestID(r.Context(), "req-1")))
	}))
	server.Config.ReadTimeout = 2 * time.Second
	server.Config.RegisterOnShutdown(b.engine.Close)
	server.Start()
	t.Cleanup(func() {
		b.engine.Close()
		server.Close()
	})
	b.url = server.URL
	return b
}

// reply is what came back over HTTP.
type reply struct {
	status int
	header http.Header
	body   string
}

func (b *bench) do(method, url, body string, headers ...string) reply {
	b.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	fatal.If(b, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	fatal.If(b, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fatal.If(b, err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

func (b *bench) post(body string, headers ...string) reply {
	b.Helper()
	return b.do("POST", b.url, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// query posts a document with variables, given as JSON.
func (b *bench) query(document, variables string) reply {
	b.Helper()
	text, _ := json.Marshal(document)
	if variables == "" {
		variables = "null"
	}
	return b.post(`{"query":` + string(text) + `,"variables":` + variables + `}`)
}

// codes of the errors in the reply, joined by blanks.
func (a reply) codes() string {
	var parsed struct {
		Errors []struct{ Extensions struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(a.body), &parsed); err != nil {
		return "not JSON: " + a.body
	}
	var codes []string
	for _, e := range parsed.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return strings.Join(codes, " ")
}

// data is the data of the answer, or "" where it has none.
func (a reply) data() string {
	var parsed struct{ Data json.RawMessage }
	_ = json.Unmarshal([]byte(a.body), &parsed)
	return string(parsed.Data)
}
