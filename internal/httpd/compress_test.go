package httpd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
)

// subscribersPage is like a page of 100 subscribers.
func subscribersPage() []byte {
	var b bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&b, `,{"physicalId":"8944%015d","subscriberId":"4477%08d","dataNumber":null,"imsi":"23415%010d","nickname":"van %d","operatorName":"Vodafone UK",`+
			`"operatorCode":"23415","tariffName":"IoT %d","lineRental":%d,"connectionDate":"2024-%02d-01T00:00:00Z","expiryDate":"2027-01-01T00:00:00Z",`+
			`"contractLength":36,"isBarred":false,"isActive":true,"terminateDate":null,"groupId":%d,"subscriberType":"physical",`+
			`"networkState":{"isTransferring":false,"isOnline":%t},"dataUsage":%d}`,
			i*7919, i*104729, i*1299709, i, 10*(i%5), 150+i%7, 1+i%12, i%20, i%3 == 0, i*i*15485863)
	}
	b.Bytes()[0] = '['
	return append(append([]byte(`{"content":`), b.Bytes()...), "]}"...)
}

func compressed(tb testing.TB, handler http.HandlerFunc) http.Handler {
	tb.Helper()
	middleware, err := httpd.Compressed()
	fatal.If(tb, err)
	return middleware(httpd.Route{}, handler)
}

func answersJSON(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body)
	}
}

func TestAnswersAreCompressedAsClientsAccept(t *testing.T) {
	t.Parallel()
	page := subscribersPage()
	for _, c := range []struct {
		method, accept, encoding string
		body                     []byte
	}{
		{"GET", "", "", page},
		{"GET", "identity", "", page},
		{"GET", "br", "", page},
		{"GET", "gzip;q=0", "", page},
		{"GET", "gzip", "gzip", page},
		{"POST", "gzip, deflate, br", "gzip", page},
		{"GET", "zstd", "zstd", page},
		{"GET", "gzip, deflate, br, zstd", "gzip", page},
		{"GET", "zstd, gzip", "gzip", page},
		{"GET", "gzip;q=0.5, zstd;q=0.5", "gzip", page},
		{"GET", "gzip;q=0.5, zstd", "zstd", page},
		{"GET", "gzip", "", []byte(`{"content":[]}`)},
		{"HEAD", "gzip", "", nil},
	} {
		r := httptest.NewRequest(c.method, "/subscribers", nil)
		r.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		body := c.body
		if body == nil {
			body = page
		}
		compressed(t, answersJSON(body)).ServeHTTP(w, r)
		h := w.Header()
		if h.Get("Content-Encoding") != c.encoding || h.Get("Vary") != "Accept-Encoding" || c.encoding != "" && h.Get("Content-Length") != "" {
			t.Errorf("%s, accepting %q: %v", c.method, c.accept, h)
		}
		if got := unpack(t, c.encoding, w.Body.Bytes()); c.body != nil && !bytes.Equal(got, c.body) {
			t.Errorf("%s, accepting %q: another body", c.method, c.accept)
		}
		if c.encoding != "" && w.Body.Len() > len(page)/6 {
			t.Errorf("%q makes %d bytes of %d", c.encoding, w.Body.Len(), len(page))
		}
	}
}

func unpack(t *testing.T, encoding string, body []byte) []byte {
	t.Helper()
	var reader io.Reader = bytes.NewReader(body)
	var err error
	switch encoding {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		reader, err = zstd.NewReader(reader)
	}
	fatal.If(t, err)
	all, err := io.ReadAll(reader)
	fatal.If(t, err)
	return all
}

// The header and each part of a stream arrive before the next is written.
func TestStreamsAreNotCompressed(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"text/event-stream; charset=utf-8", "application/x-ndjson"} {
		next := make(chan struct{})
		server := httptest.NewServer(compressed(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			control := http.NewResponseController(w)
			for range 3 {
				if err := control.Flush(); err != nil {
					t.Error(err)
				}
				<-next
				_, _ = io.WriteString(w, strings.Repeat("x", 2000))
			}
		}))
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		r.Header.Set("Accept-Encoding", "gzip, zstd")
		response, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		for range 3 {
			next <- struct{}{}
			if _, err := io.ReadFull(response.Body, make([]byte, 2000)); err != nil {
				t.Fatal(err)
			}
		}
		if got := response.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s is encoded by %s", media, got)
		}
		_ = response.Body.Close()
		server.Close()
	}
}

// BenchmarkCompression measures a page of 100 subscribers.
func BenchmarkCompression(b *testing.B) {
	page := subscribersPage()
	handler := compressed(b, answersJSON(page))
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		b.Run(encoding, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/subscribers", nil)
			r.Header.Set("Accept-Encoding", encoding)
			b.ReportAllocs()
			length := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				w.Body = nil
				counted := &counter{ResponseWriter: w}
				handler.ServeHTTP(counted, r)
				length = counted.n
			}
			b.ReportMetric(float64(length), "bytes")
		})
	}
}

type counter struct {
	http.ResponseWriter
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return c.ResponseWriter.Write(b)
}
