package httpd_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/access"
	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
	"simgraph/internal/problem"
)

func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) })
}

// endpoint answers with its name, and refuses with its name and the error.
type endpoint struct {
	http.Handler
	name string
}

func newEndpoint(name string) endpoint { return endpoint{named(name), name} }

func (e endpoint) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.Of(err)
	p.SetHeader(w.Header())
	w.WriteHeader(p.Status())
	_, _ = io.WriteString(w, e.name+" "+domain.OriginOf(r.Context()).Door+": "+err.Error())
}

func newHandler(health *httpd.Health) http.Handler {
	return httpd.Handler(httpd.Endpoints{
		Graph: newEndpoint("graph"), REST: newEndpoint("rest"), OAuth: access.NewOAuth(nil, slog.New(slog.DiscardHandler)), Health: health,
		Others: append(httpd.Pages(map[string]http.Handler{"/": named("page")}), httpd.Route{Path: "/sources/", Below: true, Name: "sources", Endpoint: newEndpoint("sources")}),
	})
}

func ask(t *testing.T, handler http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestEndpointsAreFoundByTheirExactPaths(t *testing.T) {
	t.Parallel()
	handler := newHandler(&httpd.Health{})
	for path, want := range map[string]string{
		"/": "page", "/graphql": "graph", "/graphql/": "rest", "//graphql": "rest", "/./graphql": "rest",
		"/subscribers": "rest", "/graphql/subscribers": "rest", "/healthz/subscribers": "rest",
		"/sources/x/records": "sources", "/sources/x": "sources", "/sources/": "sources", "/sources": "rest", "//sources/x": "rest", "/x/sources/y": "rest",
	} {
		if got := ask(t, handler, path).Body.String(); got != want {
			t.Errorf("%s went to %s, want %s", path, got, want)
		}
	}
}

func TestEveryAnswerNamesItsRequest(t *testing.T) {
	t.Parallel()
	handler := newHandler(&httpd.Health{})
	for _, sane := range []string{"abc-1", "x", strings.Repeat("x", 64)} {
		if got := ask(t, handler, "/", "X-Request-Id", sane).Header().Get("X-Request-Id"); got != sane {
			t.Errorf("%q became %q", sane, got)
		}
	}
	for _, bad := range []string{"", "a b", "a\tb", strings.Repeat("x", 65), "x\"y"} {
		if got := ask(t, handler, "/", "X-Request-Id", bad).Header().Get("X-Request-Id"); got == bad || len(got) < 20 {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

func TestReadinessFollowsTheDatabaseAndTheDrain(t *testing.T) {
	t.Parallel()
	var fault error
	health := &httpd.Health{Check: func(context.Context) error { return fault }}
	handler := newHandler(health)
	if w := ask(t, handler, "/readyz"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fault = errors.New("the database cannot be reached")
	if w := ask(t, handler, "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "cannot be reached") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fault = nil
	health.Drain()
	if w := ask(t, handler, "/readyz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(t, handler, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAServerThatStopsAnswersWhileItIsUnready(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	ctx, stop := context.WithCancel(t.Context())
	closed := make(chan struct{})
	server := &httpd.Server{
		Handler: named("answered"), Health: &httpd.Health{}, Log: slog.New(slog.DiscardHandler),
		Timing: httpd.Timing{Delay: 3 * time.Second, Drain: time.Minute}, Close: func(context.Context) { close(closed) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	url := "http://" + listener.Addr().String()
	closes := func() bool {
		response, err := http.Get(url)
		fatal.If(t, err)
		_ = response.Body.Close()
		return response.Close
	}
	if closes() {
		t.Error("a connection is closed while the server serves")
	}
	stop()
	for !closes() {
		select {
		case <-closed:
			t.Fatal("no answer said that its connection closes")
		default:
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARequestInFlightIsAnsweredBeforeTheServerEnds(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "answered")
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	ctx, stop := context.WithCancel(t.Context())
	server := &httpd.Server{Handler: slow, Health: &httpd.Health{}, Log: slog.New(slog.DiscardHandler), Timing: httpd.Timing{Drain: time.Minute}, Close: func(context.Context) {}}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	answered := make(chan string, 1)
	go func() {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answered <- string(body)
	}()
	<-entered
	stop()
	select {
	case err := <-ended:
		t.Fatalf("the server ended with a request in flight: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(leave)
	if got := <-answered; got != "answered" {
		t.Error(got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
