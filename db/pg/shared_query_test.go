package pg

import (
	"testing"
	"time"

	"simgraph/internal/fatal"
)

func TestOnlyTheSameIsShared(t *testing.T) {
	t.Parallel()
	text := "a"
	seen := map[string]int{}
	for i, asked := range []struct {
		query string
		args  []any
	}{
		{"SELECT", nil},
		{"SELECT 1", nil},
		{"SELECT", []any{nil}},
		{"SELECT", []any{int64(1)}},
		{"SELECT", []any{"1"}},
		{"SELECT", []any{"a", "b"}},
		{"SELECT", []any{"ab", ""}},
		{"SELECT", []any{"a\x00string 1 b"}},
		{"SELECT", []any{&text}},
		{"SELECT", []any{time.Unix(1, 0)}},
		{"SELECT", []any{time.Unix(1, 1)}},
	} {
		key, err := sharedKey(asked.query, asked.args)
		fatal.If(t, err)
		if other, ok := seen[key]; ok {
			t.Errorf("%d is taken for %d", i, other)
		}
		seen[key] = i
	}
	if _, err := sharedKey("SELECT", []any{struct{}{}}); err == nil {
		t.Error("arguments without a key are shared")
	}
}
