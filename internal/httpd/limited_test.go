package httpd_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/internal/access"
	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
	"simgraph/internal/limit"
	"simgraph/internal/problem"
)

// tokens admit by their own text, and note the exchanges that came too often.
type tokens struct {
	domain.Access
	throttled func(from domain.Origin, accessKeyID string)
}

func (tokens) Authenticate(_ context.Context, token domain.Secret) (*domain.Caller, error) {
	return &domain.Caller{UserID: 1, Credential: "hash of " + string(token), ExpiresAt: time.Now().Add(time.Hour)}, nil
}

func (t tokens) Throttled(from domain.Origin, accessKeyID string) { t.throttled(from, accessKeyID) }

// limitedServer answers with the name of the endpoint, over HTTP as it is served.
func limitedServer(t *testing.T, cfg limit.Config, proxies ...string) *httptest.Server {
	t.Helper()
	limits := limit.New(cfg)
	trusted, err := limit.ParseProxies(proxies)
	fatal.If(t, err)
	gate := access.NewGate(tokens{}, time.Now)
	gate.Admitted = limits.ByCaller
	turns := httpd.Turns(limits)
	engine := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			conn, err := websocket.Accept(w, r, nil)
			if err == nil {
				<-conn.CloseRead(r.Context()).Done()
			}
			return
		}
		leave, err := turns(r.Context(), ast.Query)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer leave()
		time.Sleep(5 * time.Millisecond)
		_, _ = io.WriteString(w, "graph")
	})
	log := slog.New(slog.DiscardHandler)
	server := httptest.NewServer(httpd.Handler(httpd.Endpoints{
		Graph: httpd.Graph(gate, engine, problem.Challenge{}, log), REST: newEndpoint("rest"),
		OAuth:  access.NewOAuth(tokens{throttled: func(domain.Origin, string) {}}, log),
		Health: &httpd.Health{Check: func(context.Context) error { return nil }},
		Others: httpd.Pages(map[string]http.Handler{"/": named("page")}),
		Around: []httpd.Middleware{httpd.Limited(limits, trusted)},
	}))
	t.Cleanup(server.Close)
	return server
}

type reply struct {
	status int
	header http.Header
	body   string
}

func fetch(t *testing.T, method, url string, header ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	fatal.If(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	fatal.If(t, err)
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body)}
}

func TestAThrottledExchangeOfAKeyIsNoted(t *testing.T) {
	t.Parallel()
	var noted []string
	store := tokens{throttled: func(from domain.Origin, key string) { noted = append(noted, from.Door+" "+from.Address+" "+key) }}
	handler := httpd.Handler(httpd.Endpoints{
		Graph: newEndpoint("graph"), REST: newEndpoint("rest"), Health: &httpd.Health{},
		OAuth:  access.NewOAuth(store, slog.New(slog.DiscardHandler)),
		Around: []httpd.Middleware{httpd.Limited(limit.New(limit.Config{AddressRate: 0.01, AddressBurst: 1}), nil)},
	})
	for _, path := range []string{"/subscribers", "/oauth/token", "/subscribers", "/oauth/revoke"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, nil)
		r.SetBasicAuth("sgk_1_x", "secret")
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if want := []string{"oauth 192.0.2.1 sgk_1_x", "oauth 192.0.2.1 sgk_1_x"}; !slices.Equal(noted, want) {
		t.Errorf("%q", noted)
	}
}

func TestAnAddressThatAsksTooMuchIsRefusedInTheShapeOfEachEndpoint(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{AddressRate: 0.5, AddressBurst: 1})
	if got := fetch(t, "GET", server.URL+"/subscribers"); got.status != 200 {
		t.Fatal(got)
	}
	for path, want := range map[string]string{
		"/subscribers": `rest rest: too many requests from this address, try again later`,
		"/":            `{"error":{"message":"too many requests from this address, try again later","code":"RATE_LIMITED","requestId":"r1"}}`,
		"/graphql": `{"errors":[{"extensions":{"code":"THROTTLED","requestId":"r1","retryAfter":2},` +
			`"message":"too many requests from this address, try again later"}]}`,
		"/oauth/token": `{"error":"temporarily_unavailable","error_description":"too many requests from this address, try again later"}`,
	} {
		got := fetch(t, "POST", server.URL+path, "X-Request-Id", "r1")
		if got.status != 429 || got.header.Get("Retry-After") != "2" || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, probe := range []string{"/healthz", "/readyz"} {
		if got := fetch(t, "GET", server.URL+probe); got.status != 200 {
			t.Errorf("%s: %+v", probe, got)
		}
	}
}

func TestAddressesBehindATrustedProxyCountApart(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{AddressRate: 0.5, AddressBurst: 1}, "127.0.0.0/8")
	for _, c := range []struct {
		address string
		want    int
	}{{"203.0.113.1", 200}, {"203.0.113.1", 429}, {"203.0.113.2", 200}, {"9.9.9.9, 203.0.113.2", 429}} {
		if got := fetch(t, "GET", server.URL+"/subscribers", "X-Forwarded-For", c.address); got.status != c.want {
			t.Errorf("%s: %d, want %d", c.address, got.status, c.want)
		}
	}
}

func TestATokenThatAsksTooMuchIsRefusedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{TokenRate: 0.1, TokenBurst: 2})
	for i, want := range []int{200, 200, 429} {
		got := fetch(t, "POST", server.URL+"/graphql", "Authorization", "Bearer one")
		if got.status != want || (want == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("the %dth: %+v", i+1, got)
		}
	}
	if got := fetch(t, "POST", server.URL+"/graphql", "Authorization", "Bearer two"); got.status != 200 {
		t.Errorf("another token: %+v", got)
	}
}

func TestOverloadIsShedWhileWhatIsAdmittedStaysFast(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{Running: 4, Queue: 4, Patience: time.Second})
	var admitted, shed atomic.Int64
	var slowest atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 5 {
				began := time.Now()
				switch got := fetch(t, "POST", server.URL+"/graphql", "Authorization", "Bearer one"); got.status {
				case 200:
					admitted.Add(1)
					slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				case 503:
					shed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if admitted.Load() == 0 || shed.Load() == 0 || admitted.Load()+shed.Load() != 320 {
		t.Errorf("%d admitted, %d shed", admitted.Load(), shed.Load())
	}
	if took := time.Duration(slowest.Load()); took > time.Second {
		t.Errorf("what was admitted took %v", took)
	}
}

func TestWebSocketsOfAnAddressAreCounted(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{SocketsPerAddress: 2})
	dial := func() (*websocket.Conn, int) {
		conn, response, err := websocket.Dial(t.Context(), server.URL+"/graphql", nil)
		if err != nil && response == nil {
			t.Fatal(err)
		}
		return conn, response.StatusCode
	}
	first, _ := dial()
	if _, status := dial(); status != 101 {
		t.Fatal(status)
	}
	if _, status := dial(); status != 429 {
		t.Errorf("a third gets %d", status)
	}
	_ = first.CloseNow()
	for range 6000 {
		if _, status := dial(); status == 101 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a place is not given back")
}

func TestWebSocketsOfATokenAreCounted(t *testing.T) {
	t.Parallel()
	limits := limit.New(limit.Config{Sockets: 1})
	admit := httpd.AdmitPayload(access.NewGate(tokens{}, time.Now), limits)
	payload := map[string]any{"Authorization": "Bearer one"}
	if _, err := admit(t.Context(), payload); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(t.Context(), payload); err == nil {
		t.Error("a second is admitted")
	} else if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindRateLimited {
		t.Errorf("%T %v", err, err)
	}
}

func TestPagesOfOtherOriginsMayDoWhatIsConfigured(t *testing.T) {
	t.Parallel()
	origins, err := httpd.NewOrigins([]string{"https://app.example"}, "https://sim.example/")
	fatal.If(t, err)
	for _, bad := range []string{"app.example", "https://", "https://app.example/path", "nonsense"} {
		if _, err := httpd.NewOrigins([]string{bad}, ""); err == nil {
			t.Errorf("%q is taken for an origin", bad)
		}
	}
	server := httptest.NewServer(origins.Guard(named("endpoint")))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		name, method string
		header       []string
		status       int
		allowed      string
	}{
		{"a program", "GET", nil, 200, ""},
		{"its own page", "GET", []string{"Origin", "http://" + host}, 200, ""},
		{"an allowed page", "GET", []string{"Origin", "https://app.example"}, 200, "https://app.example"},
		{"a foreign page", "GET", []string{"Origin", "https://evil.example"}, 200, ""},
		{"an allowed preflight", "OPTIONS", []string{"Origin", "https://app.example", "Access-Control-Request-Method", "PATCH"}, 204, "https://app.example"},
		{"a foreign preflight", "OPTIONS", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "PATCH"}, 200, ""},
		{"a foreign WebSocket", "GET", []string{"Origin", "https://evil.example", "Upgrade", "websocket"}, 403, ""},
		{"a WebSocket of a file", "GET", []string{"Origin", "null", "Upgrade", "websocket"}, 403, ""},
		{"an allowed WebSocket", "GET", []string{"Origin", "https://app.example", "Upgrade", "websocket"}, 200, "https://app.example"},
		{"a WebSocket by the public name", "GET", []string{"Origin", "https://sim.example", "Upgrade", "websocket"}, 200, ""},
	} {
		got := fetch(t, c.method, server.URL, c.header...)
		if got.status != c.status || got.header.Get("Access-Control-Allow-Origin") != c.allowed || got.header.Get("Vary") != "Origin" {
			t.Errorf("%s: %d %v", c.name, got.status, got.header)
		}
	}
}

func TestWithoutOriginsCORSIsOff(t *testing.T) {
	t.Parallel()
	origins, err := httpd.NewOrigins(nil, "")
	fatal.If(t, err)
	server := httptest.NewServer(origins.Guard(named("endpoint")))
	defer server.Close()
	got := fetch(t, "OPTIONS", server.URL, "Origin", "https://app.example", "Access-Control-Request-Method", "GET")
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("%s is sent", name)
		}
	}
}

func TestEveryAnswerIsSecured(t *testing.T) {
	t.Parallel()
	w := ask(t, newHandler(&httpd.Health{}), "/subscribers")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Strict-Transport-Security": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestAnOperationThatCostsNothingCountsAsOne(t *testing.T) {
	t.Parallel()
	charge := httpd.Charge(limit.New(limit.Config{CostRate: 0.01, CostBurst: 1}))
	for i, fits := range []bool{true, false} {
		if err := charge(t.Context(), 0); (err == nil) != fits {
			t.Errorf("the %dth: %v", i+1, err)
		}
	}
}

// A subscription stays open for long: it must not hold one of the slots that
// queries and mutations wait for.
func TestSubscriptionsAndOperationsHaveTheirOwnPlaces(t *testing.T) {
	t.Parallel()
	turns := httpd.Turns(limit.New(limit.Config{Running: 1, Subscriptions: 1}))
	for _, c := range []struct {
		of   ast.Operation
		want domain.ErrorKind
	}{
		{ast.Subscription, ""}, {ast.Query, ""}, {ast.Subscription, domain.KindRateLimited}, {ast.Query, domain.KindUnavailable},
		{ast.Mutation, domain.KindUnavailable},
	} {
		_, err := turns(t.Context(), c.of)
		var got domain.ErrorKind
		if fault, is := domain.AsError(err); is {
			got = fault.Kind
		}
		if got != c.want {
			t.Errorf("a %s: %v, want %s", c.of, err, c.want)
		}
	}
}

// Only a request without a token may show it later.
func TestABadTokenIsRefusedAlsoOfWebSocketsAndBrowsers(t *testing.T) {
	t.Parallel()
	server := limitedServer(t, limit.Config{})
	for _, header := range [][]string{{"Upgrade", "websocket"}, {"Accept", "text/html"}, {"Accept", "application/json"}} {
		got := fetch(t, "GET", server.URL+"/graphql", append(header, "Authorization", "Bearer x y")...)
		if got.status != 401 || !strings.Contains(got.header.Get("WWW-Authenticate"), "invalid_token") {
			t.Errorf("%v: %+v", header, got)
		}
	}
}
