package guard_test

import (
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"simgraph/graph/engine/guard"
)

const priced = `
directive @price(units: Int!, times: [String!]! = []) on FIELD_DEFINITION | ENUM_VALUE
enum Way { SHORT LONG @price(units: 50) }
type Query {
  parts(by: Way!, first: Int! = 3): [Item!]
  way(by: Way! = LONG): Int
  dear: Int @price(units: 10)
  days(days: Int! = 7): Item @price(units: 4, times: ["days"])
  span(from: String!, until: String!): Item @price(units: 5, times: ["from", "until"])
  items(first: Int!): [Item!]
}
type Item { id: ID days(days: Int!): Int @price(units: 2, times: ["days"]) }`

func TestFieldsCostTheirUnitsTimesTheirArguments(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: priced})
	for _, c := range []struct {
		query     string
		variables map[string]any
		cost      int
	}{
		{`{dear}`, nil, 10},
		{`{days{id}}`, nil, 28},
		{`{days(days: 2) {id} again: days(days: 1) {id}}`, nil, 12},
		{`query($n: Int!) {days(days: $n) {id}}`, map[string]any{"n": int64(90)}, 360},
		{`query($n: Int! = 3) {days(days: $n) {id}}`, map[string]any{"n": int64(3)}, 12},
		{`query($n: Int!) {items(first: 5) {days(days: $n)}}`, map[string]any{"n": int64(3)}, 35},
		{`{span(from: "2026-02-27T00:00:00Z", until: "2026-03-01") {id}}`, nil, 15},
		{`query($f: String!, $u: String!) {span(from: $f, until: $u) {id}}`, map[string]any{"f": "2026-02-27", "u": "2026-03-01T10:00:00+02:00"}, 15},
		{`query($f: String!) {span(from: $f, until: "2026-01-01") {id}}`, map[string]any{"f": "2026-02-27"}, 5},
		{`{parts(by: SHORT) {id}}`, nil, 3},
		{`{parts(by: LONG) {id}}`, nil, 53},
		{`query($w: Way!) {parts(by: $w) {id}}`, map[string]any{"w": "LONG"}, 53},
		{`query($w: Way!) {parts(by: $w) {id}}`, map[string]any{"w": "SHORT"}, 3},
		{`{items(first: 2) {id} way}`, nil, 52},
		{`{span(from: "x", until: "2026-01-01") {id}}`, nil, 5},
		{`query($a: Boolean!) {dear @include(if: $a) days @skip(if: $a) {id}}`, map[string]any{"a": true}, 10},
		{`query($a: Boolean!) {dear @include(if: $a) days @skip(if: $a) {id}}`, map[string]any{"a": false}, 28},
		{`{dear @include(if: false) days @skip(if: true) {id} way(by: LONG) @include(if: true)}`, nil, 50},
		{`query($a: Boolean!, $b: Boolean!) {dear @include(if: $a) @skip(if: $b)}`, map[string]any{"a": true, "b": true}, 0},
		{`query($a: Boolean!) {items(first: 5) {days(days: 3) @include(if: $a)}}`, map[string]any{"a": true}, 35},
		{`query($a: Boolean!) {items(first: 5) {...More @include(if: $a)}} fragment More on Item {days(days: 3)}`, map[string]any{"a": false}, 5},
		{`query($n: Int!, $a: Boolean!) {items(first: $n) @include(if: $a) {id}}`, map[string]any{"n": int64(4), "a": true}, 4},
		{`query($n: Int!, $a: Boolean!) {items(first: $n) @include(if: $a) {id}}`, map[string]any{"n": int64(4), "a": false}, 0},
	} {
		document := gqlparser.MustLoadQueryWithRules(schema, c.query, rules.NewDefaultRules())
		price := guard.NewPrice(schema, document.Operations[0])
		if got := price.Cost(c.variables); got != c.cost {
			t.Errorf("%s %v costs %d, want %d", c.query, c.variables, got, c.cost)
		}
	}
}
