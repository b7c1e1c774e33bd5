package httpd_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"simgraph/internal/access"
	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
)

// serve runs a server until the test ends, and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	ctx, stop := context.WithCancel(t.Context())
	server := &httpd.Server{
		Handler: handler, Health: &httpd.Health{}, Log: slog.New(slog.DiscardHandler),
		Timing: httpd.Timing{Drain: time.Minute}, Close: func(context.Context) {},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func TestWhatIsNoHTTPRequestIsAnsweredInJSON(t *testing.T) {
	t.Parallel()
	address := serve(t, named("served"))
	for name, c := range map[string]struct {
		request string
		status  int
		code    string
		message string
	}{
		"a malformed percent-encoding": {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_PARAMETER", "percent-encoding"},
		"two Host headers":             {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "INVALID_PARAMETER", "header"},
		"no Host header":               {"GET / HTTP/1.1\r\n\r\n", 400, "INVALID_PARAMETER", "missing required Host header"},
		"a header without a name":      {"GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400, "INVALID_PARAMETER", "header"},
		"no HTTP":                      {"hello\r\n\r\n", 400, "INVALID_PARAMETER", "malformed"},
		"another version":              {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "INVALID_PARAMETER", "unsupported protocol version"},
		"another transfer encoding":    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 501, "UNSUPPORTED_MEDIA_TYPE", "transfer encoding"},
		"a large header":               {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431, "PAYLOAD_TOO_LARGE", "65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := exchange(t, address, c.request)
			var answer struct {
				Error struct{ Message, Code, RequestID string }
			}
			if err := json.Unmarshal(body, &answer); err != nil {
				t.Fatalf("%v: %q", err, body)
			}
			if response.StatusCode != c.status || answer.Error.Code != c.code || !strings.Contains(answer.Error.Message, c.message) {
				t.Errorf("%s %s", response.Status, body)
			}
			h := response.Header
			if h.Get("Content-Type") != "application/json" || answer.Error.RequestID == "" || h.Get("X-Request-Id") != answer.Error.RequestID || !response.Close {
				t.Errorf("%v %s", h, body)
			}
		})
	}
}

func exchange(t *testing.T, address, request string) (*http.Response, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	fatal.If(t, err)
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	fatal.If(t, err)
	body, err := io.ReadAll(response.Body)
	fatal.If(t, err)
	return response, body
}

// A handler that answers as net/http does keeps its answer.
func TestPlainAnswersOfHandlersStay(t *testing.T) {
	t.Parallel()
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "400 Bad Request")
	}))
	if _, body := exchange(t, address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); string(body) != "400 Bad Request" {
		t.Errorf("%q", body)
	}
}

// A body of two lengths is read in chunks; what follows on the connection may have been
// meant as a part of it.
func TestAConnectionClosesAfterARequestOfTwoLengths(t *testing.T) {
	t.Parallel()
	served := 0
	rest := endpoint{http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }), "rest"}
	address := serve(t, httpd.Handler(httpd.Endpoints{Graph: newEndpoint("graph"), OAuth: &access.OAuth{}, Health: &httpd.Health{}, REST: rest}))
	conn, err := net.Dial("tcp", address)
	fatal.If(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	const request = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	if _, err := io.WriteString(conn, request+"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if served != 1 || strings.Count(string(answer), "HTTP/1.1 ") != 1 {
		t.Errorf("%d requests were served: %s, %v", served, answer, err)
	}
}
