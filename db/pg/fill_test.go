package pg

import "testing"

func TestNamesInBracesAreFilled(t *testing.T) {
	for sql, want := range map[string]string{
		"":                         "",
		"no names":                 "no names",
		"{a}":                      "1",
		"{a}{b}, {a}":              "1{a}, 1",
		"'{}'::bigint[] || {a}":    "'{}'::bigint[] || 1",
		"'{\"b\": {a}}' {c} {2} {": "'{\"b\": 1}' {c} {2} {",
	} {
		if got := Fill(sql, "a", "1", "b", "{a}", "d", "c"); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}
