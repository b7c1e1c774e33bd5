package pg

import (
	"slices"
	"testing"

	"github.com/lib/pq"

	"simgraph/internal/fatal"
)

func TestAnArrayOfTextsIsReadAsItWasWritten(t *testing.T) {
	for _, texts := range [][]string{
		{}, {""}, {"a"}, {"a", "b c", "d"}, {"NULL", "null"}, {`"`, `\`, `\"`, `,`, `{`, `}`}, {"", "", ""}, {"é, ☃", " x ", "\t\n"},
		{`ends in \`}, {`"quoted"`, "plain", `{"a","b"}`},
	} {
		printed, err := pq.StringArray(texts).Value()
		fatal.If(t, err)
		for _, v := range []any{printed, []byte(printed.(string))} {
			var got TextList[string]
			if err := got.Scan(v); err != nil || !slices.Equal(got, texts) {
				t.Errorf("%s: got %q, %v", printed, got, err)
			}
		}
	}
}

func TestWhatIsNoArrayOfTextsIsRefused(t *testing.T) {
	for _, v := range []any{
		1, "", "{", "}", "a", "{NULL}", "{a,NULL}", `{"a}`, `{"a\}`, `{"a"b}`, "{a,}", "{,a}", "{,}", `{"a",}`, "{{a},{b}}", "[0:0]={a}",
	} {
		var got TextList[string]
		if err := got.Scan(v); err == nil {
			t.Errorf("%v: got %q", v, got)
		}
	}
	got := TextList[string]{"a"}
	if err := got.Scan(nil); err != nil || got != nil {
		t.Errorf("NULL: got %q, %v", got, err)
	}
}

func FuzzTextList(f *testing.F) {
	f.Add("a", `b"\`, "")
	f.Fuzz(func(t *testing.T, first, second, third string) {
		texts := []string{first, second, third}
		printed, err := pq.StringArray(texts).Value()
		fatal.If(t, err)
		var got TextList[string]
		if err := got.Scan(printed); err != nil || !slices.Equal(got, texts) {
			t.Errorf("%s: got %q, %v", printed, got, err)
		}
		_ = got.Scan(first) // never panics
		_ = got.Scan("{" + first + "}")
	})
}
