// Package web holds the page for people: the overview, the explorer of the
// graph, the REST contract and the handbook. It is built with Node from app/ and committed
// under dist/, compressed, so that the server needs neither Node nor a network. The text
// of the handbook is made from docs/ when it is asked for.
package web

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// contentTypes are fixed: those of the system differ from machine to machine.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
	".json": "application/json",
}

// security are the headers of every file. Monaco writes style attributes and
// elements, so inline styles are the one thing that cannot be kept out.
var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; worker-src 'self'; " +
		"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Permissions-Policy":         "camera=(), geolocation=(), microphone=()",
	"Referrer-Policy":            "no-referrer",
	"X-Content-Type-Options":     "nosniff",
	"X-Frame-Options":            "DENY",
}

// file is one file of the page, as it lies in dist.
type file struct {
	packed    []byte
	kind      string
	tag       string
	immutable bool
}

// Files returns the handlers of the page's files by their exact paths: "/", "/docs", one for
// each document of the handbook, which shows the version, and one for each asset.
func Files(version string) (map[string]http.Handler, error) {
	handlers := map[string]http.Handler{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".gz" || name == template {
			return err
		}
		packed, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := newFile(name, packed)
		handlers[address(name)] = f
		return err
	})
	if err != nil {
		return nil, err
	}
	return handlers, addHandbook(handlers, version)
}

func newFile(name string, packed []byte) (*file, error) {
	kind, known := contentTypes[path.Ext(strings.TrimSuffix(name, ".gz"))]
	if !known {
		return nil, fmt.Errorf("no content type is known for %s", name)
	}
	sum := sha256.Sum256(packed)
	return &file{
		packed: packed,
		kind:   kind,
		tag:    `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		// The names of scripts and styles hold a hash of what is in them.
		immutable: strings.HasPrefix(name, "dist/assets/") && kind != contentTypes[".svg"],
	}, nil
}

// address is the path under which a file of dist is served.
func address(name string) string {
	switch name = strings.TrimSuffix(strings.TrimPrefix(name, "dist"), ".gz"); name {
	case "/index.html":
		return "/"
	default:
		return strings.TrimSuffix(name, ".html")
	}
}

func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range security {
		h.Set(name, value)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		wrongMethod(w, r)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.tag)
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if f.immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	f.write(w, r)
}

// wrongMethod answers what is no GET, in the shape of errors of the REST paths.
func wrongMethod(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	answer(w, http.StatusMethodNotAllowed, map[string]any{"error": map[string]string{
		"message": fmt.Sprintf("this path does not serve %.20q; it serves GET, HEAD", r.Method),
		"code":    "METHOD_NOT_ALLOWED", "requestId": w.Header().Get("X-Request-Id"),
	}})
}

// write sends the file as it is packed, or unpacked to the rare client that
// does not read gzip.
func (f *file) write(w http.ResponseWriter, r *http.Request) {
	if !takesGzip(r.Header) {
		unpacked, err := gzip.NewReader(strings.NewReader(string(f.packed)))
		if err == nil && r.Method == http.MethodGet {
			_, _ = io.Copy(w, unpacked) // the client may be gone
		}
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(f.packed)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.packed) // the client may be gone
	}
}

// takesGzip reads Accept-Encoding (RFC 9110 §12.5.3).
func takesGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil || coding != "gzip" && coding != "*" {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		return params["q"] == "" || err == nil && q > 0
	}
	return false
}
