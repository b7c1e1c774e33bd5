package profile

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Whatever the record has at the names, a selection finds what the program gives, or leaves it
// to say so.
func TestASelectionFindsWhatTheProgramGives(t *testing.T) {
	t.Parallel()
	texts := []string{`r`, `r.a`, `r["a"]`, `r.a.b`, `r["a"].b["c"]`, `r.?a`, `r[?"a"]`, `r.?a.b`, `r.a.?b`, `r.a.?b.c`, `r.?a.?b.c`, `r.?a[?"b"]`}
	for _, path := range texts[5:] {
		for _, other := range []string{`""`, `0`, `true`, `null`, `2.5`, `r.b`, `r.?b`, `r.?b.c.orValue("x")`, `r["?"]`} {
			texts = append(texts, fmt.Sprintf(`%s.orValue(%s)`, path, other))
		}
	}
	random := rand.New(rand.NewPCG(34, 1)) //nolint:gosec // a test
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.IntN(9); {
		case n < 4 && depth > 0:
			object := map[string]any{}
			for _, name := range []string{"a", "b", "c"} {
				if random.IntN(3) > 0 {
					object[name] = value(depth - 1)
				}
			}
			return object
		case n == 4:
			return int64(random.IntN(9))
		case n == 5:
			return 1.5
		case n == 6:
			return n == random.IntN(9)
		case n == 7:
			return nil
		case n == 8:
			return []any{"a"}
		}
		return "text"
	}
	found := 0
	for _, text := range texts {
		e, err := compile(text, nil)
		if err != nil {
			continue // such as a 0 for what may be a text
		}
		if e.selection == nil {
			t.Errorf("%s is no selection", text)
			continue
		}
		for range 300 {
			record, _ := value(3).(map[string]any)
			got, ok := e.selection.find(record)
			if !ok {
				continue
			}
			found++
			want, err := e.byProgram("", record)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %v: %v, and by its program %v, %v", text, record, got, want, err)
			}
		}
	}
	if found < 5000 {
		t.Errorf("%d values were found", found)
	}
	for _, text := range []string{`has(r.a)`, `r.a + "x"`, `r.a.size()`, `r[r.a]`, `r.l[0]`, `r.?a.orValue(r.b + "x")`, `r.a == r.b ? r.a : r.b`, `"x"`} {
		if e, err := compile(text, nil); err != nil || e.selection != nil {
			t.Errorf("%s is a selection, or %v", text, err)
		}
	}
}
