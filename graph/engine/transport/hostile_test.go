package transport_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
)

func nested(n int, open, inner string) string {
	return strings.Repeat(open+"{", n) + inner + strings.Repeat("}", n)
}

func cycles(n int) string {
	return "{items" + strings.Repeat("{nodes{related", n) + "{totalCount}" + strings.Repeat("}}", n) + "}"
}

// doubling is a chain of fragments, each of which spreads the next one twice.
func doubling(levels int, on, field, leaf string) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "fragment F%d on %s{a:%s{...F%d} b:%s{...F%d}}", i, on, field, i+1, field, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on %s{%s}", levels, on, leaf)
	return b.String()
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostile documents by what is wrong with them, with the code that refuses.
var hostile = map[string]struct{ document, code string }{
	"fragments double under __schema": {
		"{__schema{types{...F0}}}" + doubling(24, "__Type", "ofType", "name"), "DOCUMENT_LIMIT_EXCEEDED"},
	"fragments double on data": {
		"{item(id:1){...F0}}" + doubling(24, "Item", "related", "id"), "DOCUMENT_LIMIT_EXCEEDED"},
	"fragments double flatly": {"{items{nodes{...F0}}}" + flat(24), "DOCUMENT_LIMIT_EXCEEDED"},
	"equal fields":            {"{" + strings.Repeat("hello ", 10_000) + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"fewer equal fields":      {"{" + strings.Repeat("__typename ", 5_000) + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"equal nested fields":     {"{" + strings.Repeat("items{nodes{id}}", 1_000) + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"equal fields that merge": {
		"{items{" + strings.Repeat("nodes{"+strings.Repeat("id ", 299)+"}", 6) + "}}", "DOCUMENT_LIMIT_EXCEEDED"},
	"equal objects that merge": {
		"{items{" + strings.Repeat("nodes{"+strings.Repeat("related{totalCount}", 240)+"}", 4) + "}}", "DOCUMENT_LIMIT_EXCEEDED"},
	"nested cycles":               {cycles(10_000), "DOCUMENT_LIMIT_EXCEEDED"},
	"short nested cycles":         {cycles(100), "DOCUMENT_LIMIT_EXCEEDED"},
	"nested inline fragments":     {"{" + nested(900, "...", "hello") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"too nested to parse":         {"{" + nested(2_000, "...", "hello") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"aliases of a list":           {"{" + numbered(3_000, "a%d:items{nodes{id}}") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"some aliases of a list":      {"{" + numbered(60, "a%d:items{nodes{id}}") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"unknown directives":          {"{hello" + strings.Repeat("@a", 4_900) + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"more unknown directives":     {"{hello" + strings.Repeat("@a", 10_000) + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"aliases of __schema":         {"{" + numbered(300, "a%d:__schema{types{name}}") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"few aliases of __schema":     {"{" + numbered(5, "a%d:__schema{types{name}}") + "}", "DOCUMENT_LIMIT_EXCEEDED"},
	"fields of fields":            {"{__schema{types{fields{type{fields{type{name}}}}}}}", "GRAPHQL_VALIDATION_FAILED"},
	"a fragment spreads itself":   {"{...F} fragment F on Query{hello ...F}", "GRAPHQL_VALIDATION_FAILED"},
	"fragments spread each other": {"{hello} fragment F on Query{...G} fragment G on Query{a:hello{...F}}", "GRAPHQL_VALIDATION_FAILED"},
	"many variables":              {"query(" + numbered(300, "$v%d:Int ") + "){hello}", "DOCUMENT_LIMIT_EXCEEDED"},
	"many fragments":              {"{hello}" + numbered(1_000, "fragment F%d on Query{...F%[1]d1}"), "DOCUMENT_LIMIT_EXCEEDED"},
	"many operations":             {numbered(900, "query Q%d{hello items{nodes{id}}}"), "DOCUMENT_LIMIT_EXCEEDED"},
	"nested lists":                {"{numbers(value:" + strings.Repeat("[", 500) + strings.Repeat("]", 500) + ")}", "DOCUMENT_LIMIT_EXCEEDED"},
	"nested objects":              {"{filter(value:" + strings.Repeat("{and:", 300) + "{}" + strings.Repeat("}", 300) + ")}", "DOCUMENT_LIMIT_EXCEEDED"},
	"a long text":                 {`{text(value:"` + strings.Repeat("x", 70_000) + `")}`, "DOCUMENT_LIMIT_EXCEEDED"},
	"comments":                    {strings.Repeat("#\n", 20_000) + "{hello}", "DOCUMENT_LIMIT_EXCEEDED"},
	"bad bytes":                   {"{hello\x00}", "GRAPHQL_PARSE_FAILED"},
}

// flat doubles without any field in between.
func flat(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "fragment F%d on Item{...F%d ...F%d}", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on Item{id}", levels)
	return b.String()
}

// worst documents are as costly as the limits let through.
var worst = map[string]string{
	"equal fields at the limit":    "{" + strings.Repeat("... on Query{", 1) + strings.Repeat("hello ", 49) + "}}",
	"equal leaves at the limit":    "{items{nodes{" + strings.Repeat("id ", 300) + "}}}",
	"merged fields":                "{items{" + strings.Repeat("nodes{"+strings.Repeat("id name size at big tags ", 30)+"}", 6) + "}}",
	"merged objects":               "{items{" + strings.Repeat("nodes{"+strings.Repeat("related{totalCount}", 75)+"}", 4) + "}}",
	"fragments that overlap":       "{items{nodes{" + numbered(99, "...F%d ") + "}}}" + numbered(99, "fragment F%d on Item{id name size at big tags tags id name}"),
	"a chain of fragments":         "{items{nodes{...F0}}}" + chain(45),
	"fragments nobody spreads":     "{hello}" + numbered(99, "fragment F%d on Item{"+strings.Repeat("id name size at ", 4)+"}"),
	"unknown fields":               "{" + strings.Repeat("items{"+strings.Repeat("nodez ", 290)+"}", 6) + "}",
	"unknown arguments":            "{items(" + numbered(3_000, "a%d:1 ") + "){totalCount}}",
	"equal arguments":              "{items(" + strings.Repeat("first:1 ", 3_000) + "){totalCount}}",
	"directives at the limit":      "{hello" + strings.Repeat("@include(if:true)", 100) + "}",
	"a wide list":                  "{numbers(value:[" + strings.Repeat("1 ", 9_900) + "])}",
	"a wide object":                "{filter(value:{" + strings.Repeat("size:1 ", 3_300) + "})}",
	"an object of unknown fields":  "{filter(value:{" + numbered(3_300, "a%d:1 ") + "})}",
	"objects in lists, nested":     "{filter(value:" + strings.Repeat("{and:[", 24) + strings.Repeat("{size:1}", 1_900) + strings.Repeat("]}", 24) + ")}",
	"variables at the limit":       "query(" + numbered(200, "$v%d:Int ") + "){hello}",
	"aliases of __schema at limit": "{" + numbered(4, "a%d:__schema{types{fields{args{type{name ofType{name ofType{name}}}}}}}") + "}",
	"a nested type":                "query($v:" + strings.Repeat("[", 900) + "Int" + strings.Repeat("]", 900) + "){numbers(value:$v)}",
}

func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on Item{id name size ...F%d}", i, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on Item{id}", n)
	return b.String()
}

func TestHostileDocumentsAreRefused(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range hostile {
		got := b.query(c.document, "")
		if got.data() != "" || !strings.Contains(got.codes(), c.code) || len(got.body) > 25_000 {
			t.Errorf("%s: %.300s", name, got.body)
		}
	}
}

func TestTheGuardCoversEveryDoor(t *testing.T) {
	b := newBench(t, nil)
	document := "{...F0}" + strings.ReplaceAll(flat(20), "Item", "Query")
	const code = "DOCUMENT_LIMIT_EXCEEDED"
	if got := b.do("GET", b.url+"?query="+url.QueryEscape(document), ""); got.codes() != code {
		t.Error(got)
	}
	if got := b.events(document); !strings.Contains(got.body, code) {
		t.Error(got)
	}
	w := b.ready()
	w.send(`{"type":"subscribe","id":"1","payload":{"query":"` + document + `"}}`)
	w.expect(`"error"`, code)
}

// introspection is what GraphiQL and most generators ask.
const introspection = `query IntrospectionQuery { __schema { description queryType { name kind } mutationType { name kind }
subscriptionType { name kind } types { ...FullType } directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } } } }
fragment FullType on __Type { kind name description specifiedByURL isOneOf fields(includeDeprecated: true) { name description
args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } inputFields(includeDeprecated: true) { ...InputValue }
interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } } }`

func TestIntrospectionOfCommonClientsPasses(t *testing.T) {
	b := newBench(t, nil)
	got := b.query(introspection, "")
	if got.codes() != "" || !json.Valid([]byte(got.body)) || !strings.Contains(got.body, "https://scalars.graphql.org/andimarek/date-time") {
		t.Errorf("%.300s", got.body)
	}
}

// No document makes the libraries panic, which the engine would survive and
// answer with an internal error.
func FuzzDocument(f *testing.F) {
	for _, c := range hostile {
		if len(c.document) < 4_000 {
			f.Add(c.document)
		}
	}
	for _, document := range worst {
		if len(document) < 4_000 {
			f.Add(document)
		}
	}
	f.Add(introspection)
	f.Add(`query Q($v:[Int!]=[1],$f:Filter={and:[{choice:{text:"\ud83d\ude00"}}]}){numbers(value:$v)@skip(if:false) a:filter(value:{name:"""b""",and:[{size:1}]})...{id(value:5)}}`)
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{})
	f.Fuzz(func(t *testing.T, document string) {
		_, messages := engine.Read(document)
		if slices.Contains(messages, "an internal error occurred") {
			t.Error(document)
		}
	})
}

// No variables reach a resolver, or the libraries, in a form that fails there.
func FuzzVariables(f *testing.F) {
	for _, c := range inputs {
		if len(c.value) < 1_000 {
			f.Add(c.field, c.kind, c.value)
		}
	}
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{})
	f.Fuzz(func(t *testing.T, field, kind, value string) {
		run, err := engine.Prepare(fmt.Sprintf("query($v:%s){%s(value:$v)}", kind, field))
		if err != nil {
			return
		}
		var v any
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		if decoder.Decode(&v) != nil {
			return
		}
		for _, err := range run(t.Context(), map[string]any{"v": v}).Errors {
			if err.Extensions["code"] != transport.CodeBadInput {
				t.Errorf("%s(%s): %s: %v", field, kind, value, err)
			}
		}
	})
}

func BenchmarkHostile(b *testing.B) {
	for name, c := range hostile {
		benchmarkDocument(b, name, c.document)
	}
}

func BenchmarkWorst(b *testing.B) {
	for name, document := range worst {
		benchmarkDocument(b, name, document)
	}
}

func benchmarkDocument(b *testing.B, name, document string) {
	b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
		engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{})
		for b.Loop() {
			_, _ = engine.Read(document)
		}
	})
}
