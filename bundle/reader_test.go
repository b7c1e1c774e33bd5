package bundle

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	for _, l := range []string{
		`{"type":"tariff","company":"a","name":"x","lineRental":1.5,"currency":"GBP"}`,
		`{"type":"tariff","company":"a","name":"x","lineRental":"1","currency":"GBP"}`,
		`{"type":"tariff","company":"a","name":"x","lineRental":99999999999999999999,"currency":"GBP"}`,
		`{"type":"tariff","company":"a","name":"x","lineRental":1,"currency":"GBP","x":1}`,
		`{"type":"tariff","company":"a","name":"x","name":"x","lineRental":1,"currency":"GBP"}`,
		`{"type":"tariff","company":"a","name":"\ud800","lineRental":1,"currency":"GBP"}`,
		`{"type":"tariff","company":"a","name":"\u0000","lineRental":1,"currency":"GBP"}`,
		"{\"type\":\"tariff\",\"company\":\"a\",\"name\":\"\xff\",\"lineRental\":1,\"currency\":\"GBP\"}",
		`{"type":"tariff","company":"a","name":"x","lineRental":1}`,
		`{"type":"tariff","company":"a","name":"x","lineRental":1,"currency":"GBP"} x`,
		`{"type":"tariff"`, `[1]`, `null`, `3`, `"x"`, `{}`, `{"type":5}`, `{"type":"TARIFF"}`, `x`, `{"type":"group","Company":"a"}`,
		`{"type":"user","company":"a","email":"x@y.example","permissions":["View subscriber"],"groups":["1"]}`,
		`{"type":"user","company":"a","email":"x@y.example","permissions":"View subscriber","groups":[1]}`,
		`{"type":"subscriber","company":"a","networkState":{"isOnlin":true}}`,
		`{"type":"alert","company":"a","ruleType":"grouppr","target":12,"lowerThreshold":1,"upperThreshold":9223372036854775808}`,
		`{"type":"alert","company":"a","ruleType":"sim","target":12,"lowerThreshold":1,"upperThreshold":9}`,
	} {
		r := NewReader(strings.NewReader(l))
		_, err := r.Next()
		fmt.Println(l, "=>", err)
		var b *BadLine
		if !errors.As(err, &b) {
			t.Error("no bad line")
		}
		if _, err := r.Next(); err != io.EOF {
			t.Error(err)
		}
	}
}
