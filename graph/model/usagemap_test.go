package model_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"simgraph/graph/model"
)

func FuzzUsageMap(f *testing.F) {
	f.Add("TCP", "10.0.0.1", int64(1))
	f.Add(`"`, `\`, int64(-1))
	f.Add("{", "\x00\u2028", int64(0))
	f.Add("\xff", "", int64(1)<<62)
	f.Fuzz(func(t *testing.T, key, text string, n int64) {
		var m model.UsageMap
		m.Key("outer" + key)
		m.Open()
		m.Key(key)
		m.Text(text)
		m.Key(key + "n")
		m.Int(n)
		m.Close()
		m.Key("after")
		m.Open()
		m.Close()
		var b bytes.Buffer
		m.MarshalGQL(&b)
		var got map[string]map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", &b, err)
		}
		if utf8.ValidString(key) && utf8.ValidString(text) && got["outer"+key][key] != text {
			t.Errorf("%q: %q is written as %s", key, text, &b)
		}
	})
}
