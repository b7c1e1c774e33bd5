package rest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/internal/fatal"
)

const shapeSchema = `
scalar BigInt scalar Map
enum Kind { ONE TWO_MORE }
type Query { list(after: String): List! thing: Thing! }
type List { total: Int! items: [Thing!]! page: Page! }
type Page { more: Boolean! cursor: String }
type Thing { name: String size: BigInt kind: Kind map: Map inner: Thing inners: [Thing!] sizes: [BigInt!] }`

// outlineOf reads a document whose operation is named Test.
func outlineOf(t testing.TB, document string) *outline {
	t.Helper()
	l, err := newLibrary(fstest.MapFS{"operations/test.graphql": {Data: []byte(document)}})
	fatal.If(t, err)
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: shapeSchema})
	if _, _, err := l.document(schema, l.operations["Test"]); err != nil {
		t.Fatal(err)
	}
	o, err := l.newOutline(l.operations["Test"])
	fatal.If(t, err)
	return o
}

func TestMarksShapeTheAnswer(t *testing.T) {
	for _, c := range []struct{ name, selection, data, want string }{
		{"plain", `thing @body { name }`, `{"thing":{"name":"a"}}`, `{"name":"a"}`},
		{"null stays", `thing @body { name size }`, `{"thing":{"name":null,"size":null}}`, `{"name":null,"size":null}`},
		{"absent first", `thing @body { name @absent size }`, `{"thing":{"name":null,"size":"1"}}`, `{"size":"1"}`},
		{"absent last", `thing @body { name size @absent }`, `{"thing":{"name":"a","size":null}}`, `{"name":"a"}`},
		{"absent all", `thing @body { name @absent size @absent }`, `{"thing":{"name":null,"size":null}}`, `{}`},
		{"absent but there", `thing @body { name @absent }`, `{"thing":{"name":"null"}}`, `{"name":"null"}`},
		{"empty", `thing @body { name @empty }`, `{"thing":{"name":null}}`, `{"name":""}`},
		{"empty but there", `thing @body { name @empty inner { name @empty } }`, `{"thing":{"name":"null","inner":{"name":null}}}`, `{"name":"null","inner":{"name":""}}`},
		{"number", `thing @body { size @number }`, `{"thing":{"size":"9223372036854775807"}}`, `{"size":9223372036854775807}`},
		{"number null", `thing @body { size @number }`, `{"thing":{"size":null}}`, `{"size":null}`},
		{"numbers", `thing @body { sizes @number }`, `{"thing":{"sizes":["1","-2"]}}`, `{"sizes":[1,-2]}`},
		{"lower", `thing @body { kind @lower }`, `{"thing":{"kind":"TWO_MORE"}}`, `{"kind":"two_more"}`},
		{"one", `thing @body @one { name }`, `{"thing":{"name":"a"}}`, `[{"name":"a"}]`},
		{"one within", `thing @body { inner @one { name } }`, `{"thing":{"inner":{"name":"a"}}}`, `{"inner":[{"name":"a"}]}`},
		{"one scalar", `thing { m: map @body @one }`, `{"thing":{"m":{"a":"b"}}}`, `[{"a":"b"}]`},
		{"braces in text", `thing @body { name size @number }`, `{"thing":{"name":"}]\\\"{\\","size":"1"}}`, `{"name":"}]\\\"{\\","size":1}`},
		{"map stays", `thing @body { map size @number }`, `{"thing":{"map":{"x":[1,{"y":null}]},"size":"1"}}`, `{"map":{"x":[1,{"y":null}]},"size":1}`},
		{"list", `list { items @body { kind @lower } }`, `{"list":{"items":[{"kind":"ONE"},{"kind":"ONE"}]}}`, `[{"kind":"one"},{"kind":"one"}]`},
		{"empty list", `list { items @body { kind @lower } }`, `{"list":{"items":[]}}`, `[]`},
		{"deep", `thing @body { inner @absent { inners @absent { kind @lower name @absent } } }`,
			`{"thing":{"inner":{"inners":[{"kind":"ONE","name":null},{"kind":"ONE","name":"a"}]}}}`,
			`{"inner":{"inners":[{"kind":"one"},{"kind":"one","name":"a"}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := outlineOf(t, "query Test { "+c.selection+" }").shape([]byte(c.data))
			if err != nil || string(got.body) != c.want {
				t.Fatalf("got %s, %v; want %s", got.body, err, c.want)
			}
		})
	}
}

func TestTotalsAndCursorsAreTakenFromAroundTheBody(t *testing.T) {
	o := outlineOf(t, `query Test { list { items @body { name } total @total page { more @more cursor @next } } }`)
	got, err := o.shape([]byte(`{"list":{"items":[{"name":"a"}],"total":41,"page":{"more":true,"cursor":"eyJ4"}}}`))
	fatal.If(t, err)
	if got.total != 41 || !got.more || got.next != "eyJ4" || string(got.body) != `[{"name":"a"}]` {
		t.Fatalf("got %+v", got)
	}
	if got, _ := o.shape([]byte(`{"list":{"items":[],"total":0,"page":{"more":false,"cursor":null}}}`)); got.more {
		t.Fatal("an ended list goes on")
	}
}

func TestAnAnswerOfAnotherShapeIsAnError(t *testing.T) {
	o := outlineOf(t, `query Test { thing @body { name @absent size @number } }`)
	for _, data := range []string{
		``, `null`, `{`, `{"thing"`, `{"thing":`, `{"thing":{`, `{"thing":{"name"`, `{"thing":{"name":"`, `{"thing":{"name":"\`,
		`{"other":1}`, `{"thing":{"other":1}}`, `{"thing":{"name":"a","size":["1"}}`, `{"thing":{"name"`, `[]`, `{"thing":{"size":[`,
	} {
		if got, err := o.shape([]byte(data)); err == nil {
			t.Errorf("%s: got %s", data, got.body)
		}
	}
}

func TestAFieldIsSelectedOnce(t *testing.T) {
	l, err := newLibrary(fstest.MapFS{"operations/test.graphql": {Data: []byte(`query Test { thing { name ...F } } fragment F on Thing { name }`)}})
	fatal.If(t, err)
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: shapeSchema})
	if _, _, err := l.document(schema, l.operations["Test"]); err != nil {
		t.Fatal(err)
	}
	if _, err := l.newOutline(l.operations["Test"]); err == nil {
		t.Fatal("a field that is selected twice passed")
	}
}

// What comes out is JSON again, whatever valid JSON of that shape comes in.
func FuzzShape(f *testing.F) {
	f.Add(`{"thing":{"name":"a","size":"1","kind":"ONE","map":{"a":[1,"]"]},"inners":[{"name":null}]}}`)
	f.Add(`{ "thing" : { "name" : null , "size" : null, "kind":null,"map":null,"inners":null } }`)
	o := outlineOf(f, `query Test { thing @body { name @absent size @absent kind map inners @absent { name @absent } } }`)
	f.Fuzz(func(t *testing.T, data string) {
		got, err := o.shape([]byte(data))
		if err != nil || got.body == nil || !json.Valid([]byte(data)) {
			return
		}
		if !json.Valid(got.body) {
			t.Fatalf("%s became %s", data, got.body)
		}
	})
}

func BenchmarkShape(b *testing.B) {
	o := outlineOf(b, `query Test { list { total @total items @body { name size @number kind @lower inner @absent { name } } } }`)
	item := `{"name":"a subscriber","size":"123456","kind":"ONE","inner":null}`
	data := []byte(`{"list":{"total":100,"items":[` + strings.Repeat(item+",", 99) + item + `]}}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if got, err := o.shape(data); err != nil || !bytes.HasPrefix(got.body, []byte(`[{"name"`)) {
			b.Fatal(err)
		}
	}
}
