package fatal_test

import (
	"errors"
	"slices"
	"testing"

	"simgraph/internal/fatal"
)

// ended notes what a test ended with.
type ended struct{ with []any }

func (e *ended) Helper()           {}
func (e *ended) Fatal(args ...any) { e.with = args }

func TestATestEndsByAnErrorAlone(t *testing.T) {
	t.Parallel()
	e, err := &ended{}, errors.New("refused")
	if fatal.If(e, nil); e.with != nil {
		t.Fatalf("it ends with %v", e.with)
	}
	if fatal.If(e, err); !slices.Equal(e.with, []any{err}) {
		t.Fatalf("it ends with %v", e.with)
	}
}
