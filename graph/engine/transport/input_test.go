package transport_test

import (
	"fmt"
	"strings"
	"testing"
)

// inputs are field, type of its argument value, value as JSON, and what the
// resolver saw (as JSON) or "" where the value must be refused.
var inputs = []struct{ field, kind, value, seen string }{
	{"integer", "Int", `5`, `[5,4]`},
	{"integer", "Int", `5.0`, `[5,4]`},
	{"integer", "Int", `5e1`, `[50,4]`},
	{"integer", "Int", `0.5E+1`, `[5,4]`},
	{"integer", "Int", `-0`, `[0,4]`},
	{"integer", "Int", `0e9223372036854775807`, `[0,4]`},
	{"integer", "Int", `-2147483648.0`, `[-2147483648,4]`},
	{"integer", "Int", `0.99999999999999999999`, ``},
	{"integer", "Int", `1e400000000`, ``},
	{"integer", "Int", `1e9223372036854775807`, ``},
	{"integer", "Int", `0.5e-9223372036854775808`, ``},
	{"integer", "Int", `-2147483648`, `[-2147483648,4]`},
	{"integer", "Int", `null`, `[null,4]`},
	{"integer", "Int", `2147483648`, ``},
	{"integer", "Int", `-2147483649`, ``},
	{"integer", "Int", `1e99`, ``},
	{"integer", "Int", `1e999`, ``},
	{"integer", "Int", `99999999999999999999`, ``},
	{"integer", "Int", `5.5`, ``},
	{"integer", "Int", `"5"`, ``},
	{"integer", "Int", `true`, ``},
	{"integer", "Int", `[5]`, ``},
	{"integer", "Int", `{}`, ``},
	{"integer", "Int!", `null`, ``},
	{"float", "Float", `5`, `5`},
	{"float", "Float", `-5.25e1`, `-52.5`},
	{"float", "Float", `"5.5"`, ``},
	{"float", "Float", `1e999`, ``},
	{"float", "Float", `1e400000000`, ``},
	{"float", "Float", `-0`, `-0`},
	{"float", "Float", `false`, ``},
	{"text", "String", `"a\u00e4\ud83d\ude00"`, `"aä😀"`},
	{"text", "String", `"\\ud800"`, `"\\ud800"`},
	{"text", "String", `""`, `""`},
	{"text", "String", `5`, ``},
	{"text", "String", `true`, ``},
	{"text", "String", `"a\u0000b"`, ``},
	{"text", "String", `"` + strings.Repeat("x", 64<<10) + `x"`, ``},
	{"id", "ID", `"a"`, `"a"`},
	{"id", "ID", `5`, `"5"`},
	{"id", "ID", `-99999999999999999999`, `"-99999999999999999999"`},
	{"id", "ID", `5.5`, ``},
	{"id", "ID", `1e2`, ``},
	{"id", "ID", `1e9223372036854775807`, ``},
	{"id", "ID", `true`, ``},
	{"flag", "Boolean", `true`, `true`},
	{"flag", "Boolean", `"true"`, ``},
	{"flag", "Boolean", `1`, ``},
	{"color", "Color", `"RED"`, `"RED"`},
	{"color", "Color", `"red"`, ``},
	{"color", "Color", `"BLUE"`, ``},
	{"color", "Color", `0`, ``},
	{"at", "DateTime", `"2026-01-02T03:04:05+01:00"`, `"2026-01-02T03:04:05+01:00"`},
	{"at", "DateTime", `"2026-01-02T03:04:05"`, ``},
	{"at", "DateTime", `1767323045`, ``},
	{"big", "BigInt", `"9223372036854775807"`, `9223372036854775807`},
	{"big", "BigInt", `9223372036854775807`, `9223372036854775807`},
	{"big", "BigInt", `9223372036854775808`, ``},
	{"big", "BigInt", `"1e3"`, ``},
	{"big", "BigInt", `1.5`, ``},
	{"big", "BigInt", `5.0`, `5`},
	{"big", "BigInt", `1e3`, `1000`},
	{"big", "BigInt", `-0`, `0`},
	{"big", "BigInt", `0.5e1`, `5`},
	{"big", "BigInt", `1e400000000`, ``},
	{"big", "BigInt", `1e9223372036854775807`, ``},
	{"big", "BigInt", `12e9223372036854775806`, ``},
	{"big", "BigInt", `0.5e-9223372036854775808`, ``},
	{"big", "BigInt", `1e-9223372036854775808`, ``},
	{"numbers", "[Int!]", `[1,2]`, `[[1,2],null]`},
	{"numbers", "[Int!]", `7`, `[[7],null]`},
	{"numbers", "[Int!]", `[]`, `[[],null]`},
	{"numbers", "[Int!]", `[1,null]`, ``},
	{"numbers", "[Int!]", `[1,"2"]`, ``},
	{"numbers", "[Int!]", `[` + strings.Repeat("1,", 1000) + `1]`, ``},
	{"choice", "Choice", `{"text":"a"}`, `{"text":"a","number":null}`},
	{"choice", "Choice", `{"text":"a","number":1}`, ``},
	{"choice", "Choice", `{"text":"a","number":null}`, ``},
	{"choice", "Choice", `{"text":null}`, ``},
	{"choice", "Choice", `{}`, ``},
	{"filter", "Filter", `{"name":"n"}`, `{"name":"n","size":7,"colors":null,"and":null,"choice":null}`},
	{"filter", "Filter", `{"and":[{"size":1},{"choice":{"number":2}}]}`, `{"name":null,"size":7,"colors":null,"and":[` +
		`{"name":null,"size":1,"colors":null,"and":null,"choice":null},` +
		`{"name":null,"size":7,"colors":null,"and":null,"choice":{"text":null,"number":2}}],"choice":null}`},
	{"filter", "Filter", `{"and":[{"choice":{"number":2,"text":"a"}}]}`, ``},
	{"filter", "Filter", `{"size":null}`, ``},
	{"filter", "Filter", `{"other":1}`, ``},
	{"filter", "Filter", `{"__typename":"Filter"}`, ``},
	{"filter", "Filter", `{"colors":["RED","red"]}`, ``},
	{"anything", "Anything", `{"a":[1,"b",null,{"c":true}]}`, `{"a":[1,"b",null,{"c":true}]}`},
	{"anything", "Anything", `{"a":[1,{"b":"\u0000"}]}`, ``},
	{"anything", "Anything", `{"\u0000":1}`, ``},
	{"anything", "Anything", `[[` + strings.Repeat("1,", 1000) + `1]]`, ``},
	{"filter", "Filter", `"x"`, ``},
	{"filter", "Filter", `[]`, ``},
}

func TestVariablesAreCoercedStrictly(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range inputs {
		query := fmt.Sprintf("query($v:%s){%s(value:$v)}", c.kind, c.field)
		got := b.query(query, `{"v":`+c.value+`}`)
		checkInput(t, c.field, c.value, c.seen, got, "BAD_USER_INPUT")
	}
}

func checkInput(t *testing.T, field, value, seen string, got reply, code string) {
	t.Helper()
	if len(value) > 50 {
		value = value[:50] + "…"
	}
	if seen == "" {
		if got.codes() != code || got.data() != "" {
			t.Errorf("%s: %s was not refused: %s", field, value, got.body)
		}
		return
	}
	if want := fmt.Sprintf(`{%q:%s}`, field, quoted(seen)); got.data() != want {
		t.Errorf("%s: %s: got %s, want %s", field, value, got.body, want)
	}
}

func quoted(text string) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

func TestDefaultsOfVariablesAreCoercedToo(t *testing.T) {
	b := newBench(t, nil)
	if got := b.query(`query($v:Filter={and:{size:3}}){filter(value:$v)}`, ""); !strings.Contains(got.data(), `\"size\":3`) {
		t.Error(got)
	}
	for _, query := range []string{
		`query($v:Int=5000000000){integer(value:$v)}`, `query($v:BigInt="x"){big(value:$v)}`, `query($v:[Int!]=[1,null]){numbers(value:$v)}`,
	} {
		if got := b.query(query, ""); !strings.HasPrefix(got.codes(), "GRAPHQL_VALIDATION_FAILED") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
}

func TestLiteralsAreCheckedLikeVariables(t *testing.T) {
	b := newBench(t, nil)
	for literal, seen := range map[string]string{
		`integer(value:5)`:                                    `[5,4]`,
		`integer(value:5000000000)`:                           ``,
		`integer(value:99999999999999999999)`:                 ``,
		`big(value:99999999999999999999)`:                     ``,
		`big(value:12)`:                                       `12`,
		`big(value:"012")`:                                    ``,
		`big(value:1.5)`:                                      ``,
		`big(value:5.0)`:                                      ``,
		`big(value:{a:1})`:                                    ``,
		`at(value:2026)`:                                      ``,
		`at(value:"2026-01-02")`:                              ``,
		`float(value:1e999)`:                                  ``,
		`float(value:1e400000000)`:                            ``,
		`float(value:1e9223372036854775807)`:                  ``,
		`big(value:1e9223372036854775807)`:                    ``,
		`text(value:"\u0000")`:                                ``,
		`text(value:"\ud800")`:                                ``,
		`text(value:"\ud83d\ude00 \ufffd")`:                   `"😀 �"`,
		`text(value:"""\ud800""")`:                            `"\\ud800"`,
		`id(value:5)`:                                         `"5"`,
		`choice(value:{text:"a",number:1})`:                   ``,
		`choice(value:{text:null})`:                           ``,
		`choice(value:{text:"a"})`:                            `{"text":"a","number":null}`,
		`numbers(value:3,matrix:[1,[2]])`:                     `[[3],[[1],[2]]]`,
		`numbers(value:[` + strings.Repeat("1 ", 1001) + `])`: ``,
		`filter(value:{and:[{choice:{number:5000000000}}]})`:  ``,
	} {
		field, _, _ := strings.Cut(literal, "(")
		got := b.query("{"+literal+"}", "")
		if seen == "" && strings.HasPrefix(got.codes(), "GRAPHQL_VALIDATION_FAILED") && got.data() == "" {
			continue
		}
		checkInput(t, field, literal, seen, got, "GRAPHQL_VALIDATION_FAILED")
	}
}

func TestVariablesWithinLiterals(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct{ query, variables, want string }{
		{`query($v:String!){choice(value:{text:$v})}`, `{"v":"a"}`, `{"choice":"{\"text\":\"a\",\"number\":null}"}`},
		{`query($v:String){choice(value:{text:$v})}`, `{"v":"a"}`, "GRAPHQL_VALIDATION_FAILED"},
		{`query A($v:String){...F} query B($v:String!){...F} fragment F on Query{choice(value:{text:$v})}`, `{"v":"a"}`, "GRAPHQL_VALIDATION_FAILED"},
		{`query($v:Int){filter(value:{size:$v})}`, `{}`, `\"size\":7`},
		{`query($v:Int){filter(value:{size:$v})}`, `{"v":null}`, "BAD_USER_INPUT"},
		{`query($v:Int){integer(must:$v)}`, `{}`, `[null,4]`},
		{`query($v:Int){integer(must:$v)}`, `{"v":9}`, `[null,9]`},
		{`query($v:Int){integer(must:$v)}`, `{"v":null}`, "BAD_USER_INPUT"},
		{`query($v:Int!){numbers(value:[1,$v])}`, `{"v":2}`, `[[1,2],null]`},
		{`query($v:Int!){filter(value:{and:[{size:$v} {size:5000000000}]})}`, `{"v":2}`, "GRAPHQL_VALIDATION_FAILED"},
		{`query($v:Int){hello}`, `{}`, "GRAPHQL_VALIDATION_FAILED"},
		{`{hello}`, `{"v":1}`, `"world"`},
	} {
		if got := b.query(c.query, c.variables); !strings.Contains(got.body, c.want) {
			t.Errorf("%s with %s: %s, want %s", c.query, c.variables, got.body, c.want)
		}
	}
}

func TestAtMostTwentyFaultsOfVariablesAreNamed(t *testing.T) {
	b := newBench(t, nil)
	got := b.query(`query($v:[Int!]){numbers(value:$v)}`, `{"v":[`+strings.Repeat(`"x",`, 500)+`"x"]}`)
	if n := len(strings.Fields(got.codes())); n != 20 {
		t.Error(n)
	}
	if !strings.Contains(got.body, "$v[3]: expected a whole number of 32 bits, got a string") {
		t.Error(got.body)
	}
}

func TestANumberThatDoesNotFitIsTold(t *testing.T) {
	b := newBench(t, nil)
	const query = `query($v:Int){integer(must:$v)}`
	for given, received := range map[string]string{
		"2147483648":                  "got 2147483648",
		"1.5":                         "got 1.5",
		"1" + strings.Repeat("0", 50): "got a number",
		`"1"`:                         "got a string",
	} {
		want := "$v: expected a whole number of 32 bits, " + received
		if got := b.query(query, `{"v":`+given+`}`); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", given, got.body, want)
		}
	}
	if got := b.query(`{integer(must:2147483648)}`, ""); !strings.Contains(got.body, "got 2147483648") {
		t.Error(got.body)
	}
}
