package transport_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/domain/document"
	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
)

const (
	trustedQuery    = "query Q($n: Int = 3) { items(first: $n) { nodes { id } } }"
	trustedMutation = "mutation M { increment(by: 2) }"
	trustedStream   = "subscription S { forever }"
)

// trusting knows the documents by their ids; those of texts that are given as broken fail.
func trusting(only bool) func(*transport.Config) {
	return func(c *transport.Config) {
		c.DocumentsOnly = func(context.Context) bool { return only }
		c.Document = func(_ context.Context, id string) (string, error) {
			for _, text := range []string{trustedQuery, trustedMutation, trustedStream} {
				if document.IDOf(text) == id {
					return text, nil
				}
			}
			if strings.HasPrefix(id, "dead") {
				return "", domain.Unavailable(errors.New("the store is away"))
			}
			return "", nil
		}
	}
}

func TestATrustedDocumentRunsByItsID(t *testing.T) {
	b := newBench(t, trusting(true))
	id := document.IDOf(trustedQuery)
	const data = `{"items":{"nodes":[{"id":"item-0"}]}}`
	one := `"variables":{"n":1}`
	for _, body := range []string{
		`{"documentId":"sha256:` + id + `",` + one + `}`, `{"documentId":"` + id + `",` + one + `}`,
		`{"documentId":"` + id + `","operationName":"Q",` + one + `}`,
		`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + id + `"}},` + one + `}`,
	} {
		if got := b.post(body); got.data() != data {
			t.Errorf("%s: %v", body, got)
		}
		if got := b.post(body, "Accept", streamType); !strings.Contains(got.body, data) {
			t.Errorf("%s as events: %v", body, got)
		}
	}
	for _, query := range []url.Values{
		{"documentId": {"sha256:" + id}, "variables": {`{"n":1}`}},
		{"extensions": {`{"persistedQuery":{"version":1,"sha256Hash":"` + id + `"}}`}, "variables": {`{"n":1}`}},
	} {
		got := b.do(http.MethodGet, b.url+"?"+query.Encode(), "")
		if got.data() != data || got.header.Get("Cache-Control") != "no-store" {
			t.Error(got)
		}
	}
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"documentId":"` + id + `",` + one + `}}`)
	w.expect(`"next"`, data)
	w.expect(`{"type":"complete","id":"1"}`)
	w.send(`{"type":"subscribe","id":"2","payload":{"documentId":"sha256:` + document.IDOf(trustedStream) + `"}}`)
	w.send(`{"type":"complete","id":"2"}`)
	if got := b.post(`{"documentId":"` + document.IDOf(trustedMutation) + `"}`); got.data() != `{"increment":2}` {
		t.Error(got)
	}
}

func TestATrustedMutationNeedsPost(t *testing.T) {
	b := newBench(t, trusting(false))
	got := b.do(http.MethodGet, b.url+"?documentId="+document.IDOf(trustedMutation), "")
	if got.status != http.StatusMethodNotAllowed || got.codes() != "METHOD_NOT_ALLOWED" {
		t.Error(got)
	}
}

func TestAnUnknownIDIsOneError(t *testing.T) {
	b := newBench(t, trusting(false))
	none := newBench(t, nil)
	for _, id := range []string{strings.Repeat("0", 64), "sha256:" + strings.Repeat("0", 64), "x-1", "sha256:", "SHA256:" + document.IDOf(trustedQuery), strings.ToUpper(document.IDOf(trustedQuery)), strings.Repeat("z", 64), document.IDOf(trustedQuery) + "0"} {
		for media, status := range map[string]int{"application/json": 200, "application/graphql-response+json": 400} {
			for _, server := range []*bench{b, none} {
				got := server.post(`{"documentId":"`+id+`"}`, "Accept", media)
				if got.status != status || got.codes() != "DOCUMENT_NOT_FOUND" || strings.Contains(got.body, `"data"`) {
					t.Errorf("%s as %s: %v", id, media, got)
				}
			}
		}
		got := b.post(`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + id + `"}}}`)
		if got.codes() != "PERSISTED_QUERY_NOT_SUPPORTED" || !strings.Contains(got.body, "PersistedQueryNotSupported") {
			t.Errorf("%s by Apollo's extension: %v", id, got)
		}
	}
	if got := b.post(`{"documentId":"dead` + strings.Repeat("0", 60) + `"}`); got.status != http.StatusServiceUnavailable || got.codes() != "UNAVAILABLE" {
		t.Error(got)
	}
	if got := b.post(`{"documentId":"` + document.IDOf(trustedQuery) + `","operationName":"Other"}`); got.codes() != "OPERATION_RESOLUTION_FAILURE" {
		t.Error(got)
	}
}

func TestAnIDAndATextExcludeEachOther(t *testing.T) {
	b := newBench(t, trusting(false))
	id := document.IDOf(trustedQuery)
	for _, body := range []string{`{"query":"{hello}","documentId":"` + id + `"}`, `{"documentId":1}`, `{"documentId":null}`, `{"documentId":""}`, `{"documentId":["` + id + `"]}`} {
		if got := b.post(body); got.status != 400 || got.codes() != "INVALID_BODY" {
			t.Errorf("%s: %v", body, got)
		}
	}
	for _, query := range []string{"query={hello}&documentId=" + id, "documentId=" + id + "&documentId=" + id, "documentId="} {
		if got := b.do(http.MethodGet, b.url+"?"+query, ""); got.status != 400 || got.codes() != "INVALID_PARAMETER" {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestTextsAreRefusedWhereOnlyDocumentsRun(t *testing.T) {
	b := newBench(t, trusting(true))
	for _, body := range []string{
		`{"query":"{hello}"}`, `{"query":"{"}`, `{"query":"{__schema{queryType{name}}}"}`, `{"query":"{a:hello b:hello}"}`,
		`{"query":` + quoted(trustedQuery) + `}`,
		`{"query":"{hello}","extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + document.IDOf("{hello}") + `"}}}`,
	} {
		if got := b.post(body); got.codes() != "DOCUMENT_REQUIRED" {
			t.Errorf("%s: %v", body, got)
		}
		if got := b.post(body, "Accept", streamType); !strings.Contains(got.body, "DOCUMENT_REQUIRED") {
			t.Errorf("%s as events: %v", body, got)
		}
		w := b.ready()
		w.send(`{"type":"subscribe","id":"1","payload":` + body + `}`)
		w.expect(`"error"`, "DOCUMENT_REQUIRED")
	}
	if got := b.do(http.MethodGet, b.url+"?query={hello}", ""); got.codes() != "DOCUMENT_REQUIRED" {
		t.Error(got)
	}
	if got := b.post(`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + document.IDOf("{hello}") + `"}}}`); got.codes() != "PERSISTED_QUERY_NOT_SUPPORTED" {
		t.Errorf("the registration was kept: %v", got)
	}
}

func TestInspectNamesKindAndPrice(t *testing.T) {
	b := newBench(t, nil)
	for text, want := range map[string]document.Checked{
		trustedQuery:    {Name: "Q", Kind: document.Query, Cost: 4},
		trustedMutation: {Name: "M", Kind: document.Mutation, Cost: 10},
		trustedStream:   {Name: "S", Kind: document.Subscription},
		"{hello}":       {Kind: document.Query},
	} {
		if got, err := b.engine.Inspect(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{", "{nope}", "query A{hello} query B{hello}", "fragment F on Query{hello}", "{" + strings.Repeat("hello ", 20_000) + "}"} {
		if got, err := b.engine.Inspect(text); err == nil {
			t.Errorf("%.20s: %+v", text, got)
		}
	}
}

// What stays out is refused by an error that says so.
func TestWhatIsDecidedAgainstIsSaid(t *testing.T) {
	b := newBench(t, nil)
	for query, says := range map[string]string{
		"{...@defer{hello}}": `Unknown directive \"@defer\"`, "{items{nodes @stream{id}}}": `Unknown directive \"@stream\"`,
	} {
		if got := b.post(`{"query":"` + query + `"}`); got.codes() != "GRAPHQL_VALIDATION_FAILED" || !strings.Contains(got.body, says) {
			t.Errorf("%s: %v", query, got)
		}
	}
	if got := b.post(`[{"query":"{hello}"},{"query":"{hello}"}]`); got.status != 400 || !strings.Contains(got.body, "batches are not supported: send one operation per request") {
		t.Error(got)
	}
}

func BenchmarkPostByID(b *testing.B) {
	const text = `query Q($n:Int){items(first:$n){nodes{id name}}}`
	id := document.IDOf(text)
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{Document: func(_ context.Context, of string) (string, error) {
		if of == id {
			return text, nil
		}
		return "", nil
	}})
	body := `{"documentId":"sha256:` + id + `","variables":{"n":1},"operationName":"Q"}`
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
