package input_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"pgregory.net/rapid"

	"simgraph/graph/engine/input"
	"simgraph/internal/fatal"
)

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema", Input: `
directive @oneOf on INPUT_OBJECT
scalar Even
scalar Any
enum Colour { RED GREEN }
input Key @oneOf { id: ID name: String }
input Filter { colour: Colour!, tags: [String!], least: Int = 1, most: Int! = 2, not: Filter, key: Key }
type Query { find(filter: Filter, n: Int, ns: [Int!], f: Float, b: Boolean, id: ID, s: String, key: Key, even: Even, any: Any, must: Int! = 3): Int }
`})

func checker() *input.Checker {
	return input.NewChecker(schema, map[string]func(any) error{"Even": func(v any) error {
		if n, is := v.(json.Number); is && strings.HasSuffix(string(n), "2") {
			return nil
		}
		return errors.New("not even")
	}}, input.Limits{List: 3, Text: 10})
}

// prepared checks what is written into an operation, and returns the messages.
func prepared(t fatal.Test, operation string) (*input.Operation, []string) {
	t.Helper()
	document, err := parser.ParseQuery(&ast.Source{Name: "operation", Input: operation})
	fatal.If(t, err)
	if faults := validator.ValidateWithRules(schema, document, nil); len(faults) > 0 {
		t.Fatal(faults)
	}
	op, faults := checker().Prepare(document.Operations[0])
	return op, messages(faults)
}

func messages(of gqlerror.List) (all []string) {
	for _, fault := range of {
		all = append(all, fault.Message)
	}
	return all
}

// coerced reads a variable $v of a type from JSON.
func coerced(t fatal.Test, kind, text string) (value any, given bool, faults []string) {
	t.Helper()
	name := map[string]string{"Filter": "filter", "Int": "n", "[Int!]": "ns", "Float": "f", "Boolean": "b", "ID": "id", "String": "s", "Key": "key", "Even": "even", "Any": "any"}[strings.TrimSuffix(kind, "!")]
	op, wrong := prepared(t, `query($v: `+kind+`) { find(`+name+`: $v) }`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	raw := map[string]any{"unknown": 1}
	if text != "" {
		decoder := json.NewDecoder(strings.NewReader(`{"v":` + text + `}`))
		decoder.UseNumber()
		fatal.If(t, decoder.Decode(&raw))
	}
	values, list := op.Variables(raw)
	if len(values) > 1 {
		t.Fatal("a variable that is not declared is there")
	}
	value, given = values["v"]
	return value, given, messages(list)
}

func TestValuesOfVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, text string
		want       any
		fault      string
	}{
		{"Int", "7", int64(7), ""}, {"Int", "7.0", int64(7), ""}, {"Int", "1e2", int64(100), ""}, {"Int", "-2147483648", int64(math.MinInt32), ""},
		{"Int", "2147483648", nil, "$v: expected a whole number of 32 bits, got 2147483648"}, {"Int", "7.5", nil, "$v: expected a whole number of 32 bits, got 7.5"},
		{"Int", `"7"`, nil, "$v: expected a whole number of 32 bits, got a string"}, {"Int", "true", nil, "$v: expected a whole number of 32 bits, got a boolean"},
		{"Int", "null", nil, ""}, {"Int!", "null", nil, "$v: must not be null"}, {"Int!", "", nil, "$v: a value is required"},
		{"Int", strings.Repeat("1", 41), nil, "$v: expected a whole number of 32 bits, got a number"},
		{"[Int!]", "7", []any{int64(7)}, ""}, {"[Int!]", "[1,2,3]", []any{int64(1), int64(2), int64(3)}, ""}, {"[Int!]", "[1,2,3,4]", nil, "$v: a list may have at most 3 elements"},
		{"[Int!]", "[1,null]", nil, "$v[1]: must not be null"}, {"[Int!]", `[1,"2"]`, nil, "$v[1]: expected a whole number of 32 bits, got a string"}, {"[Int!]", `"2"`, nil, "$v: expected a whole number of 32 bits, got a string"},
		{"Float", "1.5", 1.5, ""}, {"Float", "1", 1.0, ""}, {"Float", "1e999", nil, "$v: expected a finite number, got 1e999"}, {"Float", "[1]", nil, "$v: expected a finite number, got a list"},
		{"Boolean", "true", true, ""}, {"Boolean", "1", nil, "$v: expected a boolean, got a number"},
		{"ID", "7", "7", ""}, {"ID", `"a"`, "a", ""}, {"ID", "123456789012345678901", "123456789012345678901", ""}, {"ID", "4.0", nil, "$v: expected a string, got a number"},
		{"String", `"a"`, "a", ""}, {"String", "7", nil, "$v: expected a string, got a number"}, {"String", `"0123456789"`, "0123456789", ""},
		{"String", `"01234567890"`, nil, "$v: a text may have at most 10 bytes"}, {"String", `"a\u0000"`, nil, "$v: a text must not have NUL characters"},
		{"Key", `{"id":"7"}`, map[string]any{"id": "7"}, ""}, {"Key", `{"id":"7","name":"a"}`, nil, "$v: exactly one field must be given"}, {"Key", `{}`, nil, "$v: exactly one field must be given"},
		{"Key", `{"id":null}`, nil, "$v.id: must not be null"}, {"Key", `"7"`, nil, "$v: expected an object Key, got a string"},
		{"Filter", `{"colour":"RED"}`, map[string]any{"colour": "RED"}, ""}, {"Filter", `{"colour":"BLUE"}`, nil, "$v.colour: not a value of Colour"},
		{"Filter", `{"colour":7}`, nil, "$v.colour: expected a value of Colour, got a number"}, {"Filter", `{}`, nil, "$v.colour: a value is required"},
		{"Filter", `{"colour":"RED","least":null}`, map[string]any{"colour": "RED", "least": nil}, ""}, {"Filter", `{"colour":"RED","color":1}`, nil, `$v: Filter has no field "color"`},
		{"Filter", `{"colour":"RED","not":{"colour":"GREEN","tags":["a","\u0000"]}}`, nil, "$v.not.tags[1]: a text must not have NUL characters"},
		{"Filter", `{"colour":"RED","key":{}}`, nil, "$v.key: exactly one field must be given"},
		{"Even", "2", json.Number("2"), ""}, {"Even", "3", nil, "$v: not even"},
		{"Any", `{"a":[1,"b"]}`, map[string]any{"a": []any{json.Number("1"), "b"}}, ""}, {"Any", `{"a":[1,2,3,4]}`, nil, "$v.a: a list may have at most 3 elements"},
		{"Any", `{"a":{"b":"01234567890"}}`, nil, "$v.a.b: a text may have at most 10 bytes"}, {"Any", `{"01234567890":1}`, nil, "$v: a text may have at most 10 bytes"},
	} {
		value, _, faults := coerced(t, c.kind, c.text)
		if c.fault != "" {
			if !slices.Equal(faults, []string{c.fault}) {
				t.Errorf("%s %s: %q, want %q", c.kind, c.text, faults, c.fault)
			}
			continue
		}
		if len(faults) > 0 || !reflect.DeepEqual(value, c.want) {
			t.Errorf("%s %s: %#v, want %#v, %q", c.kind, c.text, value, c.want, faults)
		}
	}
}

func TestAVariableThatIsMissingStaysMissing(t *testing.T) {
	t.Parallel()
	if value, given, faults := coerced(t, "Int", ""); given || len(faults) > 0 {
		t.Errorf("got %v, %v", value, faults)
	}
	op, _ := prepared(t, `query($v: Int = 4) { find(n: $v) }`)
	if values, faults := op.Variables(nil); values["v"] != int64(4) || len(faults) > 0 {
		t.Errorf("got %v, %v", values, faults)
	}
	// Its type permits null, and its place does not.
	op, _ = prepared(t, `query($v: Int = 4) { find(must: $v) }`)
	if _, faults := op.Variables(map[string]any{"v": nil}); !slices.Equal(messages(faults), []string{"$v: must not be null"}) {
		t.Errorf("got %v", faults)
	}
}

func TestValuesThatAreWrittenIntoAnOperation(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`n: 7`: "", `n: 2147483648`: "n: expected a whole number of 32 bits, got 2147483648", `ns: [1, 2, 3, 4]`: "ns: a list may have at most 3 elements",
		`ns: [1, 2, 3, $v]`: "ns: a list may have at most 3 elements", `s: "01234567890"`: "s: a text may have at most 10 bytes", `s: "\ud800"`: "s: a text must not have half of a surrogate pair",
		`s: "\ud83d\ude00"`: "", `s: "` + "\uFFFD" + `"`: "", `filter: {colour: RED, tags: ["01234567890"], least: $v}`: "filter.tags: a text may have at most 10 bytes",
		`filter: {colour: RED, not: {colour: GREEN, key: {name: "01234567890"}}}`: "filter.not.key.name: a text may have at most 10 bytes", `any: 1e999`: "any: a number is out of range",
	} {
		_, faults := prepared(t, `query($v: Int!) { find(n: $v) more: find(`+arguments+`) }`)
		if got := strings.Join(faults, "; "); strings.Replace(got, ".tags[0]:", ".tags:", 1) != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

func TestAFaultSaysWhereItStands(t *testing.T) {
	t.Parallel()
	document, err := parser.ParseQuery(&ast.Source{Input: "query(\n  $v: Int) { find(n: $v) }"})
	fatal.If(t, err)
	validator.ValidateWithRules(schema, document, nil)
	op, _ := checker().Prepare(document.Operations[0])
	_, faults := op.Variables(map[string]any{"v": "7"})
	if len(faults) != 1 || faults[0].Locations[0].Line != 2 || faults[0].Locations[0].Column != 3 || faults[0].Extensions["code"] != input.Code {
		t.Errorf("got %+v", faults)
	}
	many := map[string]any{"colour": "RED"}
	for n := range 30 {
		many["f"+string(rune('a'+n))] = 1
	}
	op, _ = prepared(t, `query($v: Filter) { find(filter: $v) }`)
	if _, faults := op.Variables(map[string]any{"v": many}); len(faults) != 20 {
		t.Errorf("%d faults are named", len(faults))
	}
}

// What passes is what a JSON decoder does not alter.
func TestJSONThatADecoderWouldAlterIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			text.WriteString(rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\udfff`, `\uDBFF`, `\u0041`, `\\`, "é", `u`}).Draw(t, "piece"))
		}
		body := `"` + text.String() + `"`
		var read string
		if json.Unmarshal([]byte(body), &read) != nil {
			t.Skip("no JSON")
		}
		altered := strings.ContainsRune(read, '\uFFFD')
		if err := input.CheckJSON([]byte(body)); (err != nil) != altered {
			t.Fatalf("%s is read as %q: %v", body, read, err)
		}
	})
}

// Numbers of a decoder that has no json.Number, and of Go.
func TestPlainNumbers(t *testing.T) {
	t.Parallel()
	op, _ := prepared(t, `query($v: Int, $f: Float, $id: ID) { find(n: $v, f: $f, id: $id) }`)
	for _, c := range []struct {
		raw, want any
	}{
		{float64(math.MaxInt32), int64(math.MaxInt32)}, {float64(math.MinInt32), int64(math.MinInt32)}, {float64(math.MaxInt32) + 1, nil}, {float64(math.MinInt32) - 1, nil}, {7.5, nil},
		{7, int64(7)}, {int32(7), int64(7)}, {int64(math.MaxInt32), int64(math.MaxInt32)}, {int64(math.MaxInt32) + 1, nil},
	} {
		values, faults := op.Variables(map[string]any{"v": c.raw})
		if len(faults) == 0 != (c.want != nil) || c.want != nil && values["v"] != c.want {
			t.Errorf("%v is %v: %v", c.raw, values["v"], faults)
		}
	}
	if values, faults := op.Variables(map[string]any{"f": 7, "id": int64(8)}); len(faults) > 0 || values["f"] != 7.0 || values["id"] != "8" {
		t.Errorf("got %v, %v", values, faults)
	}
	if _, faults := op.Variables(map[string]any{"f": math.Inf(1)}); len(faults) != 1 {
		t.Errorf("got %v", faults)
	}
	if err := input.CheckJSON([]byte("\"\xff\"")); err == nil {
		t.Error("a body that is no UTF-8 is taken")
	}
}

func TestTheUsualLimits(t *testing.T) {
	t.Parallel()
	if got := input.DefaultLimits(); got != (input.Limits{List: 1000, Text: 65536}) {
		t.Errorf("got %+v", got)
	}
}
