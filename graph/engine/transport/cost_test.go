package transport_test

import (
	"strings"
	"testing"
)

func TestAnOperationCostsWhatItsListsHold(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct{ query, variables, cost string }{
		{`{hello}`, ``, "0"},
		{`{__typename __schema{types{name}} __type(name:"Item"){name}}`, ``, "200"},
		{`{items(first:3){nodes{id name tags}}}`, ``, "4"},
		{`{items(first:3){totalCount}}`, ``, "4"},
		{`{items{nodes{id}}}`, ``, "26"},
		{`{items(first:null){nodes{id}}}`, ``, "26"},
		{`query($n:Int){items(first:$n){nodes{id}}}`, `{"n":7}`, "8"},
		{`query($n:Int){items(first:$n){nodes{id}}}`, `{}`, "26"},
		{`query($n:Int=2){items(first:$n){nodes{id}}}`, `{}`, "3"},
		{`{items(first:3){nodes{related{nodes{id}}}}}`, ``, "22"},
		{`query($n:Int){items(first:$n){a:nodes{related(first:2){nodes{id}}}}}`, `{"n":10}`, "41"},
		{`{items(first:2){...F}} fragment F on ItemConnection{nodes{id}...{nodes{name}}}`, ``, "5"},
		{`{nodes(ids:["a","b","c"]){id}}`, ``, "3"},
		{`query($v:[ID!]!){nodes(ids:$v){id}}`, `{"v":["a","b"]}`, "2"},
		{`query($v:[ID!]!){nodes(ids:$v){id}}`, `{"v":[]}`, "0"},
		{`{nodes(ids:[]){id}}`, ``, "0"},
		{`{samples{id}}`, ``, "40"},
		{`mutation{a:increment b:increment}`, ``, "20"},
	} {
		got := b.query(c.query, c.variables)
		if !strings.HasSuffix(got.body, `"extensions":{"cost":`+c.cost+`}}`) {
			t.Errorf("%s %s: want %s, got %.300s", c.query, c.variables, c.cost, got.body)
		}
	}
}

func TestHugeSizesDoNotOverflowTheCost(t *testing.T) {
	b := newBench(t, nil)
	for _, n := range []string{"2147483647", "1000000"} {
		got := b.query(`query($n:Int){items(first:$n){nodes{related(first:$n){nodes{related(first:$n){nodes{id}}}}}}}`, `{"n":`+n+`}`)
		if got.codes() != "COST_LIMIT_EXCEEDED" {
			t.Errorf("%s: %.300s", n, got.body)
		}
	}
}
