package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
)

const (
	jsonType    = "application/json; charset=utf-8"
	graphqlType = "application/graphql-response+json; charset=utf-8"
)

func TestAnswerHasTheTypeThatIsWantedMost(t *testing.T) {
	b := newBench(t, nil)
	for accept, want := range map[string]string{
		"":                                          jsonType,
		"*/*":                                       jsonType,
		"application/*":                             jsonType,
		"application/json":                          jsonType,
		"application/graphql-response+json":         graphqlType,
		"APPLICATION/GraphQL-response+JSON":         graphqlType,
		"application/json;q=0.5, */*;q=0.1":         jsonType,
		"application/json;q=0, */*":                 graphqlType,
		"text/html, application/json;q=0.1":         jsonType,
		"application/json; charset=utf-8":           jsonType,
		"text/html;q=0.9, */*;q=0.8":                jsonType,
		"text/event-stream;q=0.1, */*":              jsonType,
		"text/event-stream":                         "text/event-stream; charset=utf-8",
		"application/json;q=0.1, text/event-stream": "text/event-stream; charset=utf-8",
		"application/graphql-response+json, application/json;q=0.9":                               graphqlType,
		"application/json, application/graphql-response+json":                                     graphqlType,
		"application/graphql-response+json;q=0.8, application/json;q=0.9":                         jsonType,
		"application/graphql-response+json, application/json, text/event-stream, multipart/mixed": graphqlType,
	} {
		got := b.post(`{"query":"{hello}"}`, "Accept", accept)
		if got.status != 200 || got.header.Get("Content-Type") != want {
			t.Errorf("Accept %q: %d %s", accept, got.status, got.header.Get("Content-Type"))
		}
	}
}

func TestNothingAcceptableIsRefused(t *testing.T) {
	b := newBench(t, nil)
	for _, accept := range []string{
		"text/plain", "text/html", "application/json;q=0", "application/json;charset=latin1", "image/*, text/*", "*/*;q=0",
		"application/json;q=2", "nonsense",
	} {
		got := b.post(`{"query":"{hello}"}`, "Accept", accept)
		if got.status != 406 || got.codes() != "NOT_ACCEPTABLE" {
			t.Errorf("Accept %q: %d %s", accept, got.status, got.body)
		}
	}
}

func TestBrowsersGetTheExplorer(t *testing.T) {
	b := newBench(t, func(c *transport.Config) {
		c.Explorer = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<page>") })
	})
	browser := "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	if got := b.do("GET", b.url, "", "Accept", browser); got.body != "<page>" {
		t.Error(got)
	}
	if got := b.do("GET", b.url+"?query={hello}", "", "Accept", "*/*"); got.data() != `{"hello":"world"}` {
		t.Error(got)
	}
	if got := b.post(`{"query":"{hello}"}`, "Accept", browser); got.data() != `{"hello":"world"}` {
		t.Error(got)
	}
}

func TestRequestErrorsHaveNoDataAndTheStatusOfTheirType(t *testing.T) {
	b := newBench(t, nil)
	for body, code := range map[string]string{
		`{"query":"{"}`:      "GRAPHQL_PARSE_FAILED",
		`{"query":"#"}`:      "GRAPHQL_PARSE_FAILED",
		`{"query":"{nope}"}`: "GRAPHQL_VALIDATION_FAILED",
		`{"query":"query($v:Int!){integer(value:$v)}"}`:                     "BAD_USER_INPUT",
		`{"query":"query A{hello} query B{hello}"}`:                         "OPERATION_RESOLUTION_FAILURE",
		`{"query":"query A{hello} query B{hello}","operationName":"C"}`:     "OPERATION_RESOLUTION_FAILURE",
		`{"query":"{hello}","operationName":"C"}`:                           "OPERATION_RESOLUTION_FAILURE",
		`{"query":"subscription{forever}"}`:                                 "SUBSCRIPTION_NEEDS_STREAM",
		`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}`: "PERSISTED_QUERY_NOT_SUPPORTED",
		`{"query":"{...@defer{hello}}"}`:                                    "GRAPHQL_VALIDATION_FAILED",
	} {
		for media, status := range map[string]int{"application/json": 200, "application/graphql-response+json": 400} {
			got := b.post(body, "Accept", media)
			if got.status != status || got.codes() != code || strings.Contains(got.body, `"data"`) {
				t.Errorf("%s as %s: %d %s", body, media, got.status, got.body)
			}
		}
	}
}

func TestBodiesThatAreNoRequestAreRefused(t *testing.T) {
	b := newBench(t, nil)
	for _, body := range []string{
		"", " ", "{", "null", "1", `"{hello}"`, `{"query":"{hello}"} {}`, `{"query":"{hello}"}x`, `[{"query":"{hello}"}]`, `[]`,
		`{}`, `{"query":""}`, `{"query":null}`, `{"query":1}`, `{"query":["{hello}"]}`, `{"QUERY":"{hello}"}`,
		`{"query":"{hello}","variables":[]}`, `{"query":"{hello}","variables":"{}"}`, `{"query":"{hello}","extensions":1}`,
		`{"query":"{hello}","operationName":1}`, "{\"query\":\"{hello}\xff\"}", `{"query":"{hello}#\ud800"}`,
	} {
		for _, media := range []string{"application/json", "application/graphql-response+json"} {
			got := b.post(body, "Accept", media)
			if got.status != 400 || got.codes() != "INVALID_BODY" || strings.Contains(got.body, `"data"`) {
				t.Errorf("%q: %d %s", body, got.status, got.body)
			}
		}
	}
}

func TestErrorsNeitherEchoTheBodyNorNameGoTypes(t *testing.T) {
	b := newBench(t, nil)
	for _, body := range []string{
		`{"query":"{hello}","variables":"pass-word"}`, `{"pass-word`, `{"query":{"pass-word":1}}`,
		`{"query":"query($v:Int){integer(value:$v)}","variables":{"v":"pass-word"}}`,
		`{"query":"query($v:Filter){filter(value:$v)}","variables":{"v":{"size":{"a":"pass-word"}}}}`,
	} {
		got := b.post(body)
		for _, leak := range []string{"pass-word", "map[", "interface", "json.", "float64", "Go ", "struct"} {
			if strings.Contains(got.body, leak) {
				t.Errorf("%s contains %q: %s", body, leak, got.body)
			}
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	b := newBench(t, nil)
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		got := b.do(method, b.url, `{"query":"{hello}"}`, "Content-Type", "application/json")
		if got.status != 405 || got.header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: %v", method, got)
		}
	}
}

func TestHeadIsAnsweredAsGetWithoutItsBody(t *testing.T) {
	b := newBench(t, nil)
	for query, status := range map[string]int{
		"{hello}": 200, "{": 400, "mutation{increment}": 405, "subscription{forever}": 200,
	} {
		target := b.url + "?query=" + url.QueryEscape(query)
		accept := "application/graphql-response+json"
		if strings.HasPrefix(query, "subscription") {
			accept = "text/event-stream"
		}
		head := b.do(http.MethodHead, target, "", "Accept", accept)
		if head.status != status || head.body != "" || head.header.Get("Content-Type") == "" {
			t.Errorf("%s: %v", query, head)
		}
	}
	get, head := b.do(http.MethodGet, b.url+"?query={hello}", ""), b.do(http.MethodHead, b.url+"?query={hello}", "")
	if want := get.header.Get("Content-Length"); want == "" || head.header.Get("Content-Length") != want {
		t.Errorf("Content-Length: %s, want %s", head.header.Get("Content-Length"), want)
	}
}

func TestAMutationNeedsPost(t *testing.T) {
	b := newBench(t, nil)
	for _, accept := range []string{"", "application/graphql-response+json", "text/event-stream"} {
		got := b.do("GET", b.url+"?query="+url.QueryEscape("mutation{increment}"), "", "Accept", accept)
		if got.status != 405 || got.header.Get("Allow") != http.MethodPost || got.codes() != "METHOD_NOT_ALLOWED" {
			t.Errorf("%q: %v", accept, got)
		}
	}
	if got := b.query("mutation{increment(by:2)}", ""); got.data() != `{"increment":2}` {
		t.Error(got)
	}
}

func TestOtherContentTypesAreRefused(t *testing.T) {
	b := newBench(t, nil)
	for _, media := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/graphql",
		"application/json; charset=latin1", "application/json; charset", "nonsense/",
	} {
		got := b.do(http.MethodPost, b.url, `{"query":"{hello}"}`, "Content-Type", media)
		if got.status != 415 || got.codes() != "UNSUPPORTED_MEDIA_TYPE" {
			t.Errorf("%q: %v", media, got)
		}
	}
	if got := b.post(`{"query":"{hello}"}`, "Content-Encoding", "gzip"); got.status != 415 {
		t.Error(got)
	}
	if got := b.do(http.MethodPost, b.url, `{"query":"{hello}"}`, "Content-Type", `application/json; charset="UTF-8"`); got.status != 200 {
		t.Error(got)
	}
}

func TestABodyHasAtMostOneMegabyte(t *testing.T) {
	b := newBench(t, nil)
	got := b.post(`{"query":"{hello}","x":"` + strings.Repeat("x", 1<<20) + `"}`)
	if got.status != 413 || got.codes() != "PAYLOAD_TOO_LARGE" {
		t.Error(got.status, got.codes())
	}
}

func TestGetTakesItsParametersFromTheURL(t *testing.T) {
	b := newBench(t, nil)
	query := url.Values{
		"query":         {"query A($v:Int){integer(value:$v)} query B{hello}"},
		"variables":     {`{"v":5}`},
		"operationName": {"A"},
		"extensions":    {`{}`},
		"unknown":       {"1", "2"},
	}
	if got := b.do("GET", b.url+"?"+query.Encode(), ""); got.data() != `{"integer":"[5,4]"}` {
		t.Error(got)
	}
	for _, raw := range []string{
		"", "query=", "query={hello}&query={hello}", "query=%zz", "query={hello};x=1", "query={hello}&variables=[]",
		"query={hello}&variables={", "query={hello}&variables=%ff", "query={hello}&extensions=1", "query={hello}&variables={}{}",
	} {
		got := b.do("GET", b.url+"?"+raw, "")
		if got.status != 400 || got.codes() != "INVALID_PARAMETER" {
			t.Errorf("%s: %v", raw, got)
		}
	}
	if got := b.do("GET", b.url+"?query=%ff", ""); got.codes() != "GRAPHQL_PARSE_FAILED" {
		t.Error(got)
	}
}

func TestAnswersAreNeitherSniffedNorStored(t *testing.T) {
	b := newBench(t, nil)
	for _, body := range []string{`{"query":"{hello}"}`, `{`} {
		got := b.post(body).header
		if got.Get("X-Content-Type-Options") != "nosniff" || got.Get("Vary") != "Accept" || got.Get("Cache-Control") != "no-store" {
			t.Error(got)
		}
	}
}

func TestThePriceIsShown(t *testing.T) {
	b := newBench(t, nil)
	if got := b.query("{items(first:3){nodes{id}}}", ""); !strings.HasSuffix(got.body, `,"extensions":{"cost":4}}`) {
		t.Error(got)
	}
}

func BenchmarkPost(b *testing.B) {
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{})
	const body = `{"query":"query Q($n:Int){items(first:$n){nodes{id name}}}","variables":{"n":1},"operationName":"Q"}`
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
