package httpd

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// compressFrom is the length in bytes from which answers are compressed:
	// shorter ones fit into a packet or two anyway.
	compressFrom = 1 << 10
	// gzipLevel takes less than half the CPU of level 6, for answers that are a fifth
	// longer: see docs/benchmarks.md.
	gzipLevel = 1
)

// Compressed returns the Middleware that compresses JSON answers by gzip or zstd,
// as clients accept them; by gzip where they rank both alike, since clients on Node 20
// name zstd and cannot read it. Streams of events and of records, whose parts must
// arrive at once, are never compressed.
func Compressed() (Middleware, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(gzipLevel), gzhttp.SetContentType(false),
		gzhttp.ContentTypeFilter(compressible), gzhttp.PreferZstd(false))
	if err != nil {
		return nil, err
	}
	return func(_ Route, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") == "" || isWebSocket(r) {
				w.Header().Add("Vary", "Accept-Encoding")
				next.ServeHTTP(w, r)
				return
			}
			wrap(http.HandlerFunc(func(packer http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(&byType{ResponseWriter: w, packer: packer}, r)
			})).ServeHTTP(w, r)
		})
	}, nil
}

func compressible(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return media == "application/json" || media == "application/graphql-response+json"
}

// byType passes an answer to the packer when its type is compressible, and past it
// otherwise: a packer holds back what is flushed.
type byType struct {
	http.ResponseWriter // without compression
	packer              http.ResponseWriter
	// chosen is one of the two; nil until the header is written.
	chosen http.ResponseWriter
}

func (w *byType) choose() http.ResponseWriter {
	if w.chosen == nil {
		w.chosen = w.ResponseWriter
		if compressible(w.Header().Get("Content-Type")) {
			w.chosen = w.packer
		}
	}
	return w.chosen
}

// WriteHeader implements http.ResponseWriter.
func (w *byType) WriteHeader(status int) { w.choose().WriteHeader(status) }

// Write implements http.ResponseWriter.
func (w *byType) Write(b []byte) (int, error) { return w.choose().Write(b) }

// FlushError is used by http.ResponseController.
func (w *byType) FlushError() error { return http.NewResponseController(w.choose()).Flush() }

// Unwrap is used by http.ResponseController, for deadlines.
func (w *byType) Unwrap() http.ResponseWriter { return w.ResponseWriter }
