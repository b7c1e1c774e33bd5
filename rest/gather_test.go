package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/problem"
)

const gatherSchema = `
scalar BigInt
enum RuleType { SIM COMPANY }
directive @guard(permissions: [String!]! = []) on FIELD_DEFINITION
type Query { find(id: Int!, name: String!, rule: RuleType, names: [String!]): Thing! @guard(permissions: [VIEW]) list(limit: Int, offset: Int, filter: String, from: String!): List! }
type Mutation { edit(input: EditInput!): Thing! @guard(permissions: [VIEW, EDIT]) }
input EditInput { thingId: Int! rule: RuleType target: String size: BigInt note: String }
type List { total: Int! items: [Thing!]! }
type Thing { name: String! secret: String @guard(permissions: [SECRET]) }`

const gatherOperations = `
query List($limit: Int, $offset: Int, $filter: String, $from: String!) {
  list(limit: $limit, offset: $offset, filter: $filter, from: $from) { total @total items @body { name } }
}
query Find($id: Int!, $name: String!) { find(id: $id, name: $name) @body { name secret } }
mutation Edit($id: Int!, $rule: RuleType!, $target: String @loose, $size: BigInt, $note: String) {
  edit(input: {thingId: $id, rule: $rule, target: $target, size: $size, note: $note}) @body { ...T }
}
fragment T on Thing { name }`

// testConfig runs nothing.
func testConfig() Config {
	return Config{
		Schema: gqlparser.MustLoadSchema(&ast.Source{Input: gatherSchema}),
		Prepare: func(string) (Run, error) {
			return func(context.Context, map[string]any) *graphql.Response { return nil }, nil
		},
	}
}

// testEndpoint compiles a route with one of the operations above.
func testEndpoint(t testing.TB, route route) *endpoint {
	t.Helper()
	l, err := newLibrary(fstest.MapFS{"operations/test.graphql": {Data: []byte(gatherOperations)}})
	fatal.If(t, err)
	e, err := newEndpoint(testConfig(), l, route)
	fatal.If(t, err)
	router{e}.addShown()
	return e
}

// An operation that answers could not be shaped of, or whose variables could not be read, is
// refused when the program starts.
func TestAnOperationThatDoesNotFitItsRouteIsRefused(t *testing.T) {
	for operation, want := range map[string]string{
		`query Q($id: Int!) { find(id: $id, name: "") { name @body } }`:                                                 "an answer without content has no @body",
		`query Wrapped($id: Int!) { find(id: $id, name: "") { name } }`:                                                 "the operation has 0 @body, not 1",
		`query Wrapped($id: Int!) { find(id: $id, name: "") @body { name @body } }`:                                     "the operation has 2 @body, not 1",
		`query Wrapped($id: String!, $limit: Int) { list(limit: $limit, from: $id) { total items @body { name } } }`:    "the list has 0 @total, not 1",
		`query Wrapped($id: String!, $offset: Int) { list(offset: $offset, from: $id) { total items @body { name } } }`: "the list has 0 @total, not 1",
		`query Q { find(id: 1, name: "") { name } }`:                                                                    "the operation has no variable $id",
		`query Q($id: String!, $size: Int) { list(limit: $size, from: $id) { total } }`:                                 "$size: cannot read a Int from there",
		`query Q($id: Int!, $rule: RuleType) { find(id: $id, name: "", rule: $rule) { name } }`:                         "$rule: cannot read a RuleType from there",
		`query Q($id: Int!, $names: [String!]) { find(id: $id, name: "", names: $names) { name } }`:                     "$names: cannot read a [String!] from there",
		`query Q($id: Int!) { find(id: $id, name: "") { name name } }`:                                                  `the field "name" is selected twice`,
		`query Q($id: Int!) { find(id: $id, name: "") { ...None } }`:                                                    "there is no fragment None",
	} {
		l, err := newLibrary(fstest.MapFS{"operations/test.graphql": {Data: []byte(operation)}})
		fatal.If(t, err)
		of := route{method: http.MethodGet, path: "/things/{id}", operation: "Q"}
		if l.operations["Wrapped"] != nil {
			of.operation, of.wrapper = "Wrapped", "content"
		}
		if _, err := newEndpoint(testConfig(), l, of); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", operation, err, want)
		}
	}
}

func gather(t testing.TB, e *endpoint, r *http.Request) (map[string]any, error) {
	t.Helper()
	segments, err := split(r.URL.EscapedPath())
	fatal.If(t, err)
	c, err := e.gather(context.Background(), httptest.NewRecorder(), r, segments)
	if err != nil {
		return nil, err
	}
	return c.variables, nil
}

func TestParametersBecomeVariables(t *testing.T) {
	list := testEndpoint(t, route{method: http.MethodGet, path: "/things", operation: "List", wrapper: "content"})
	usual := map[string]any{"limit": 25, "offset": 0, "from": "x"}
	for query, want := range map[string]map[string]any{
		"":                              {},
		"limit=":                        {},
		"limit=0":                       {},
		"limit=7":                       {"limit": 7},
		"limit=007":                     {"limit": 7},
		"limit=100":                     {"limit": 100},
		"limit=101":                     {"limit": 100},
		"limit=10.0":                    {"limit": 10},
		"Stray=1&FILTERS=2":             {},
		"limit=99999999999999999999999": {"limit": 100},
		"offset=99999999999":            {"offset": 2147483647},
		"&&offset=3&":                   {"offset": 3},
		"filter=":                       {},
		"filter=a%20eq%20%22b%3Bc%22":   {"filter": `a eq "b;c"`},
		"filter=a+eq+1":                 {"filter": "a eq 1"},
		"physicalId=1&physicalId=2":     {},
		"stray":                         {},
	} {
		got, err := gather(t, list, httptest.NewRequest(http.MethodGet, "/things?from=x&"+query, nil))
		expected := maps.Clone(usual)
		maps.Copy(expected, want)
		if err != nil || !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: got %v, %v; want %v", query, got, err, expected)
		}
	}
}

func TestWrongParametersAreRefused(t *testing.T) {
	list := testEndpoint(t, route{method: http.MethodGet, path: "/things", operation: "List", wrapper: "content"})
	for query, want := range map[string]string{
		"from=x&limit=-1":          "limit must be a whole number",
		"from=x&limit=1.5":         "limit must be a whole number",
		"from=x&limit=ten":         "limit must be a whole number",
		"from=x&limit=+1":          "limit must be a whole number",
		"from=x&limit=%2B1":        "limit must be a whole number",
		"from=x&limit=1e1":         "limit must be a whole number",
		"from=x&limit=1.":          "limit must be a whole number",
		"from=x&limit=.0":          "limit must be a whole number",
		"from=x&Filter=a":          `there is no parameter "Filter"; write filter`,
		"from=x&OFFSET=1":          `there is no parameter "OFFSET"; write offset`,
		"From=x":                   `there is no parameter "From"; write from`,
		"from=x&limit=%D9%A1":      "limit must be a whole number",
		"from=x&offset=-0":         "offset must be a whole number",
		"from=x&limit=1&limit=1":   "limit is given twice",
		"from=x&limit=1&%6Cimit=2": "limit is given twice",
		"from=x&filter=a&filter=b": "filter is given twice",
		"from=x&filter=%00":        "filter must not hold control characters",
		"from=x&filter=%ff":        "filter is not valid UTF-8",
		"from=x&filter=%":          "filter has a malformed percent-encoding",
		"from=x&filter=%zz":        "filter has a malformed percent-encoding",
		"from=x&%zz=1":             "the query has a malformed percent-encoding",
		"from=x;filter=a":          "the query has a semicolon",
		"from=":                    "from is required",
		"":                         "from is required",
		"from=x&filter=" + strings.Repeat("a", maxText+1): "filter is longer than",
	} {
		r := httptest.NewRequest(http.MethodGet, "/things", nil)
		r.URL.RawQuery = query
		_, err := gather(t, list, r)
		if err == nil || !strings.HasPrefix(err.Error(), want) || problem.Of(err).Code != "INVALID_PARAMETER" {
			t.Errorf("%.80s: got %v; want %s", query, err, want)
		}
	}
}

func TestABodyBecomesVariables(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for body, want := range map[string]map[string]any{
		`{"rule":"sim"}`:                              {"rule": "SIM"},
		` { "rule" : "company" , "note" : "" } `:      {"rule": "COMPANY", "note": ""},
		`{"rule":"sim","target":"12"}`:                {"rule": "SIM", "target": "12"},
		`{"rule":"sim","target":12}`:                  {"rule": "SIM", "target": "12"},
		`{"rule":"sim","target":null}`:                {"rule": "SIM", "target": ""},
		`{"rule":"sim","size":9223372036854775807}`:   {"rule": "SIM", "size": int64(9223372036854775807)},
		`{"rule":"sim","size":5.0}`:                   {"rule": "SIM", "size": int64(5)},
		`{"rule":"sim","size":2e1}`:                   {"rule": "SIM", "size": int64(20)},
		`{"rule":"sim","target":12.0}`:                {"rule": "SIM", "target": "12"},
		`{"rule":"sim","name":"as it was shown"}`:     {"rule": "SIM"},
		`{"name":[{"a":[]},1],"rule":"sim"}`:          {"rule": "SIM"},
		`{"rule":"sim","note":"\ud83d\ude00 \u00fc"}`: {"rule": "SIM", "note": "😀 ü"},
		`{"rule":"sim","note":"\\ud800"}`:             {"rule": "SIM", "note": `\ud800`},
		`{"\u0072ule":"sim"}`:                         {"rule": "SIM"},
	} {
		want["id"] = int64(7)
		got, err := gather(t, edit, httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(body)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v; want %v", body, got, err, want)
		}
	}
}

func TestWrongBodiesAreRefused(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for body, want := range map[string]string{
		``:                               "a body is required",
		"  \n":                           "a body is required",
		`{`:                              "the body is not one JSON value",
		`{"rule":"sim",}`:                "the body is not one JSON value",
		`{"rule":"sim"} {}`:              "the body is not one JSON value",
		`{"rule":"sim"}]`:                "the body is not one JSON value",
		`{'rule':'sim'}`:                 "the body is not one JSON value",
		"\ufeff{}":                       "the body is not one JSON value",
		"{\"note\":\"\xff\"}":            "the body is not valid UTF-8",
		`{"note":"\ud800"}`:              "the body escapes half of a surrogate pair",
		`[]`:                             "the body must be a JSON object",
		`"sim"`:                          "the body must be a JSON object",
		`null`:                           "the body must be a JSON object",
		`{}`:                             "rule is required",
		`{"rule":null}`:                  "rule must be one of sim, company",
		`{"rule":"SIM"}`:                 "rule must be one of sim, company",
		`{"rule":1}`:                     "rule must be one of sim, company",
		`{"Rule":"sim"}`:                 `there is no field "Rule"`,
		`{"rule":"sim","id":7}`:          `there is no field "id"`,
		`{"rule":"sim","rule":"sim"}`:    `"rule" is given twice`,
		`{"rule":"sim","\u0072ule":"a"}`: `"rule" is given twice`,
		`{"rule":"sim","note":1}`:        "note must be a string",
		`{"rule":"sim","note":null}`:     "note must be a string",
		`{"rule":"sim","note":{}}`:       "note must be a string",
		`{"rule":"sim","target":["a"]}`:  "target must be a string",
		`{"rule":"sim","target":[[{"a":[1]}]],"other":1}`:            "target must be a string",
		`{"rule":"sim","target":true}`:                               "target must be a string",
		`{"rule":"sim","note":"\u0000"}`:                             "note must not hold control characters",
		`{"rule":"sim","size":"1"}`:                                  "size must be an integer",
		`{"rule":"sim","size":null}`:                                 "size must be an integer",
		`{"rule":"sim","size":1.5}`:                                  "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":1e-3}`:                                 "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":9223372036854775808}`:                  "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":1e400000000}`:                          "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":1e9223372036854775807}`:                "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":12e9223372036854775806}`:               "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":-1e-9223372036854775808}`:              "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":0.5e-9223372036854775808}`:             "size must be an integer of at most 64 bits",
		`{"rule":"sim","size":1` + strings.Repeat("0", 10_000) + `}`: "size must be an integer of at most 64 bits",
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000):  "the body is not one JSON value",
	} {
		_, err := gather(t, edit, httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(body)))
		if err == nil || !strings.HasPrefix(err.Error(), want) || problem.Of(err).Code != problem.InvalidBody {
			t.Errorf("%.80s: got %v; want %s", body, err, want)
		}
	}
}

func TestAllFaultsOfABodyAreNamed(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	_, err := gather(t, edit, httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(`{"x":1,"size":"a","y":null}`)))
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || len(p.Details) != 4 || p.Message != p.Details[0].Reason {
		t.Fatalf("got %+v", p)
	}
	many := `{"` + strings.Repeat("a", 500) + `":1`
	for i := range 100 {
		many += `,"f` + strings.Repeat("x", i) + `":1`
	}
	_, err = gather(t, edit, httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(many+"}")))
	if p := problem.Of(err); len(p.Details) != maxDetails || len(p.Details[0].Field) > 100 {
		t.Fatalf("got %d details", len(p.Details))
	}
}

func TestWhatABodyIsDeclaredToBe(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for _, c := range []struct {
		name, value, code string
	}{
		{"", "", ""},
		{"Content-Type", "application/json", ""},
		{"Content-Type", `Application/JSON; charset="UTF-8"`, ""},
		{"Content-Type", "application/json; charset=utf-8; odd=1", ""},
		{"Content-Type", "application/json; charset=latin1", problem.MediaType},
		{"Content-Type", "application/merge-patch+json", problem.MediaType},
		{"Content-Type", "text/plain", problem.MediaType},
		{"Content-Type", "application/x-www-form-urlencoded", problem.MediaType},
		{"Content-Type", "", problem.MediaType},
		{"Content-Type", ";;", problem.MediaType},
		{"Content-Encoding", "identity", ""},
		{"Content-Encoding", "gzip", problem.MediaType},
	} {
		r := httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(`{"rule":"sim"}`))
		if c.name != "" {
			r.Header.Set(c.name, c.value)
		}
		_, err := gather(t, edit, r)
		if (err == nil) != (c.code == "") || err != nil && problem.Of(err).Code != c.code {
			t.Errorf("%s: %s: got %v", c.name, c.value, err)
		}
	}
}

func TestABodyIsBounded(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	fitting := `{"rule":"sim"` + strings.Repeat(" ", maxBody-14) + `}`
	for _, known := range []bool{true, false} {
		for body, code := range map[string]string{fitting: "", fitting + " ": problem.TooLarge} {
			r := httptest.NewRequest(http.MethodPatch, "/things/7", strings.NewReader(body))
			if !known {
				r.ContentLength = -1
			}
			_, err := gather(t, edit, r)
			if (err == nil) != (code == "") || err != nil && problem.Of(err).Code != code {
				t.Errorf("%d bytes: got %v", len(body), err)
			}
		}
	}
}

// The documented order: 415 and 413 before 400 before 404.
func TestTheFirstFaultIsTold(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for _, c := range []struct{ media, query, body, path, code string }{
		{"text/plain", "a;b", "", "x", problem.MediaType},
		{"application/json", "a;b", strings.Repeat(" ", maxBody+1), "x", problem.TooLarge},
		{"application/json", "a;b", "", "x", "INVALID_PARAMETER"},
		{"application/json", "", "", "x", problem.InvalidBody},
	} {
		r := httptest.NewRequest(http.MethodPatch, "/things/"+c.path, strings.NewReader(c.body))
		r.URL.RawQuery = c.query
		r.Header.Set("Content-Type", c.media)
		if _, err := gather(t, edit, r); err == nil || problem.Of(err).Code != c.code {
			t.Errorf("%+.40v: got %v", c, err)
		}
	}
}

func TestAnIDOfNothingIsMissedAfterTheBodyWasChecked(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	find := testEndpoint(t, route{method: http.MethodGet, path: "/things/{id}", operation: "Find", wrapper: "content"})
	for _, id := range []string{"x", "0", "2147483648"} {
		r := httptest.NewRequest(http.MethodPatch, "/things/"+id, strings.NewReader(`{"rule":"sim"}`))
		segments, _ := split(r.URL.EscapedPath())
		c, err := edit.gather(context.Background(), httptest.NewRecorder(), r, segments)
		if err != nil || c.variables["id"] != noID {
			t.Fatalf("%s: %v, %v", id, c, err)
		}
		for code, want := range map[string]string{
			"INVALID_PROPERTY": `no test "` + id + `" on this account`, "INVALID_PARAMETER": "graph", "UNAVAILABLE": "graph",
		} {
			if err := edit.refusal(c, problem.New(code, "", "graph")); err.Error() != want {
				t.Errorf("%s: %s: %v", id, code, err)
			}
		}
	}
	if _, err := gather(t, find, httptest.NewRequest(http.MethodGet, "/things/x?name=y", nil)); err == nil {
		t.Error("an id of nothing is looked for without a body")
	}
}

func joined(permissions []domain.Permission) string {
	return strings.Trim(fmt.Sprint(permissions), "[]")
}

func TestPermissionsAreThoseOfAllFieldsOfTheDocument(t *testing.T) {
	find := testEndpoint(t, route{method: http.MethodGet, path: "/things/{id}", operation: "Find", wrapper: "content"})
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	if got := joined(find.permissions); got != "VIEW SECRET" {
		t.Errorf("find needs %s", got)
	}
	if got := joined(edit.permissions); got != "VIEW EDIT" {
		t.Errorf("edit needs %s", got)
	}
}

func TestErrorsNameFieldsAsTheCallerKnowsThem(t *testing.T) {
	edit := testEndpoint(t, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for field, want := range map[string]string{"thingId": "INVALID_PARAMETER id", "note": problem.InvalidBody + " note", "other": "INVALID_PARAMETER other"} {
		p := edit.blame(problem.New(string(domain.KindInvalid), field, "wrong"))
		if got := p.Code + " " + p.Details[0].Field; got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

func TestPagesLinkToTheirNeighbours(t *testing.T) {
	for _, c := range []struct {
		query string
		page  page
		total int
		want  string
	}{
		{"", page{25, 0}, 25, ""},
		{"", page{25, 0}, 26, `<?limit=25&offset=25>; rel="next"`},
		{"limit=10&offset=10", page{10, 10}, 35, `<?limit=10&offset=20>; rel="next", <?limit=10&offset=0>; rel="prev"`},
		{"offset=3", page{25, 3}, 20, `<?limit=25&offset=0>; rel="prev"`},
		{"offset=1000", page{25, 1000}, 60, `<?limit=25&offset=35>; rel="prev"`},
		{"offset=2147483647", page{100, 2147483647}, 3, `<?limit=100&offset=0>; rel="prev"`},
		{"filter=a+eq+%22%3E%3B%22&offset=2&x", page{2, 0}, 9, `<?filter=a+eq+%22%3E%3B%22&x=&limit=2&offset=2>; rel="next"`},
	} {
		pairs, err := parseQuery(c.query)
		fatal.If(t, err)
		h := http.Header{}
		c.page.announce(h, pairs, c.total)
		if got := h.Get("Link"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
}

func TestListsThatAreWalkedAreJoined(t *testing.T) {
	for _, c := range [][3]string{{"", "[]", "[]"}, {"[]", "[1]", "[1]"}, {"[1]", "[]", "[1]"}, {"[1,2]", "[3]", "[1,2,3]"}} {
		var list []byte
		if c[0] != "" {
			list = []byte(c[0])
		}
		if got := string(join(list, []byte(c[1]))); got != c[2] {
			t.Errorf("%s and %s: got %s", c[0], c[1], got)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("limit=1&offset=2&filter=a%20eq%201")
	f.Add("a;b=%zz&&=&%")
	f.Fuzz(func(t *testing.T, raw string) {
		pairs, err := parseQuery(raw)
		if err != nil {
			return
		}
		p, err := newPage(pairs, bounds{25, 100})
		if err != nil {
			return
		}
		if p.limit < 1 || p.limit > 100 || p.offset < 0 {
			t.Fatalf("%q gave %+v", raw, p)
		}
	})
}

func FuzzBody(f *testing.F) {
	edit := testEndpoint(f, route{method: http.MethodPatch, path: "/things/{id}", operation: "Edit", wrapper: "content"})
	for _, number := range []string{"-0", "1e3", "5.0", "1e400000000", "1e9223372036854775807", "0.5e-9223372036854775808"} {
		f.Add([]byte(`{"rule":"sim","size":` + number + `,"target":` + number + `}`))
	}
	f.Add([]byte(`{"rule":"sim","size":1,"target":null}`))
	f.Add([]byte(`{"a":"\ud800","a":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := parseBody(body)
		if err == nil {
			_, err = gather(t, edit, httptest.NewRequest(http.MethodPatch, "/things/7", bytes.NewReader(body)))
			members = nil
		}
		if err == nil {
			return
		}
		if p := problem.Of(err); p.Code != problem.InvalidBody || members != nil {
			t.Fatalf("%q: got %v, %v", body, members, err)
		}
	})
}
