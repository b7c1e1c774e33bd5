package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/web"
	"simgraph/web/sources"
)

// Bounds of what a browser loads, compressed, in bytes.
const (
	// mostFirst is for the scripts of the overview.
	mostFirst = 150_000
	// mostBytes is for the overview and the editor, with all styles, fonts and workers.
	mostBytes = 1_720_000
	// mostOfView is for the scripts of each other view, beyond those of the overview.
	mostOfView = 110_000
)

var (
	script       = regexp.MustCompile(`/assets/([^"]+\.js)"`)
	importsNow   = regexp.MustCompile(`(?:from|import)"\./([^"]+\.js)"`)
	importsLater = regexp.MustCompile("import\\([`\"]\\./([^`\"]+\\.js)[`\"]\\)")
	// ofEditor are the scripts that the editor alone loads when it is used.
	ofEditor = regexp.MustCompile(`^(Explore|plain|monaco|prettier)-`)
)

// scripts are those of the build by name, with their texts.
func scripts(t *testing.T, all map[string][]byte) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for path, packed := range all {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".js.gz"); ok {
			r, err := gzip.NewReader(bytes.NewReader(packed))
			fatal.If(t, err)
			text, err := io.ReadAll(r)
			fatal.If(t, err)
			texts[name+".js"] = string(text)
		}
	}
	return texts
}

// loads adds a script to those that are loaded, and all that it imports.
func loads(texts map[string]string, name string, loaded map[string]bool) {
	if loaded[name] {
		return
	}
	loaded[name] = true
	for _, found := range importsNow.FindAllStringSubmatch(texts[name], -1) {
		loads(texts, found[1], loaded)
	}
}

func TestTheBuildBelongsToTheSources(t *testing.T) {
	want, err := sources.Hash(os.DirFS(".."))
	fatal.If(t, err)
	got, err := os.ReadFile(filepath.Join("dist", sources.File))
	fatal.If(t, err)
	if strings.TrimSpace(string(got)) != want {
		t.Error("web/dist was built from other sources: run make web")
	}
}

func TestTheFirstLoadIsSmall(t *testing.T) {
	all := built(t)
	texts := scripts(t, all)
	first := map[string]bool{}
	for _, found := range script.FindAllStringSubmatch(ask(files(t)["/"], http.MethodGet, "").Body.String(), -1) {
		loads(texts, found[1], first)
	}
	weigh := func(names, but map[string]bool) (total int) {
		for name := range names {
			if !but[name] {
				total += len(all[filepath.Join("dist", "assets", name+".gz")])
			}
		}
		return total
	}
	if total := weigh(first, nil); total == 0 || total > mostFirst {
		t.Errorf("the scripts of the overview have %d bytes, more than %d", total, mostFirst)
	}
	editor := maps.Clone(first)
	for _, text := range texts {
		for _, found := range importsLater.FindAllStringSubmatch(text, -1) {
			view := map[string]bool{}
			loads(texts, found[1], view)
			if total := weigh(view, first); !ofEditor.MatchString(found[1]) && total > mostOfView {
				t.Errorf("%s loads %d bytes, more than %d", found[1], total, mostOfView)
			}
			if strings.HasPrefix(found[1], "Explore-") {
				maps.Copy(editor, view)
			}
		}
	}
	total := weigh(editor, nil)
	for path, packed := range all {
		if name := filepath.Base(path); strings.Contains(name, ".worker-") || !strings.Contains(name, ".js.") && !strings.HasPrefix(name, "operations-") {
			total += len(packed)
		}
	}
	if total > mostBytes {
		t.Errorf("the overview and the editor have %d bytes, more than %d", total, mostBytes)
	}
	t.Logf("%d bytes", total)
}

func TestEveryFileIsServedUnderTheSamePolicy(t *testing.T) {
	for path, file := range files(t) {
		w := ask(file, http.MethodGet, "gzip")
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Encoding") != "gzip" || h.Get("Content-Type") == "" {
			t.Errorf("%s: got %d with %v", path, w.Code, h)
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'; script-src 'self'; ") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: got the policy %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: got %v", path, h)
		}
	}
}

func TestOnlyHashedNamesAreKeptForGood(t *testing.T) {
	hashed := regexp.MustCompile(`-[A-Za-z0-9_-]{8}\.`)
	for path, file := range files(t) {
		forGood := strings.Contains(ask(file, http.MethodGet, "gzip").Header().Get("Cache-Control"), "immutable")
		if forGood != hashed.MatchString(path) {
			t.Errorf("%s: kept for good is %t", path, forGood)
		}
	}
}

// The handbook and its search are loaded by those who open it, and by nobody else.
func TestTheHandbookAddsNothingToTheFirstView(t *testing.T) {
	all := files(t)
	own := regexp.MustCompile(`/assets/(handbook|search|docs|swagger)-[^"]*`)
	if html := ask(all["/docs/handbook"], http.MethodGet, "").Body.String(); !own.MatchString(html) {
		t.Error("the handbook names no file of its own")
	}
	if found := own.FindString(ask(all["/"], http.MethodGet, "").Body.String()); found != "" {
		t.Errorf("the first view loads %s", found)
	}
}

func TestPagesNameOnlyFilesThatAreServed(t *testing.T) {
	all := files(t)
	link := regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	for _, page := range []string{"/", "/docs", "/docs/handbook"} {
		html := ask(all[page], http.MethodGet, "").Body.String()
		if regexp.MustCompile(`<script[^>]*>[^<]|<style`).MatchString(html) {
			t.Errorf("%s has an inline script or style", page)
		}
		for _, found := range link.FindAllStringSubmatch(html, -1) {
			if to, _, _ := strings.Cut(found[1], "#"); all[to] == nil {
				t.Errorf("%s names %s, which is not served", page, found[1])
			}
		}
	}
}

func TestFilesAreServedAsClientsAsk(t *testing.T) {
	page := files(t)["/"]
	plain := ask(page, http.MethodGet, "gzip;q=0, br")
	if plain.Header().Get("Content-Encoding") != "" || !strings.HasPrefix(plain.Body.String(), "<!doctype html>") {
		t.Errorf("without gzip: got %q with %v", plain.Body.String(), plain.Header())
	}
	if w := ask(page, http.MethodHead, "gzip"); w.Code != http.StatusOK || w.Body.Len() > 0 {
		t.Errorf("HEAD: got %d with %d bytes", w.Code, w.Body.Len())
	}
	if w := ask(page, http.MethodPost, "gzip"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" ||
		w.Header().Get("Content-Type") != "application/json" || !strings.Contains(w.Body.String(), `"code":"METHOD_NOT_ALLOWED"`) {
		t.Errorf("POST: got %d with %v", w.Code, w.Header())
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", `W/"x", `+plain.Header().Get("Etag"))
	w := httptest.NewRecorder()
	if page.ServeHTTP(w, r); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("known: got %d with %d bytes", w.Code, w.Body.Len())
	}
}

// A ready question that the schema has outgrown would greet people with an error.
func TestReadyQuestionsFitTheSchema(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	text, err := os.ReadFile("app/explore/examples.ts")
	fatal.If(t, err)
	found := regexp.MustCompile("(?s)query: `(.*?)`").FindAllStringSubmatch(string(text), -1)
	if len(found) < 10 {
		t.Fatalf("found %d questions", len(found))
	}
	for _, question := range found {
		if _, err := gqlparser.LoadQueryWithRules(schema, question[1], rules.NewDefaultRules()); err != nil {
			t.Errorf("%v in\n%s", err, question[1])
		}
	}
}

func files(t *testing.T) map[string]http.Handler {
	t.Helper()
	all, err := web.Files("1.2.3")
	fatal.If(t, err)
	if all["/"] == nil || all["/docs"] == nil || all["/docs/handbook"] == nil {
		t.Fatal("the pages are missing")
	}
	return all
}

// built returns the files of the build by their names.
func built(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir("dist", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".gz" {
			all[path], err = os.ReadFile(path)
		}
		return err
	})
	fatal.If(t, err)
	return all
}

func ask(handler http.Handler, method, encodings string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.Header.Set("Accept-Encoding", encodings)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// Instances, and a server that starts again, give the same tags: caches stay valid.
func TestTagsAreThoseOfTheContent(t *testing.T) {
	first, second := files(t), files(t)
	for path := range first {
		if a, b := ask(first[path], http.MethodGet, "gzip").Header().Get("Etag"), ask(second[path], http.MethodGet, "gzip").Header().Get("Etag"); a != b || a == "" {
			t.Errorf("%s has the tags %s and %s", path, a, b)
		}
	}
}
