package plan

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// frame answers for the key under which gqlgen reads the context of a field, which
// gqlgen does not export: a version that reads it otherwise fails here first.
func TestGqlgenReadsTheFieldContextOfAFrame(t *testing.T) {
	t.Parallel()
	if fieldContextKey == nil {
		t.Fatal("graphql.GetFieldContext reads no value of its context: frame.Value has to serve what it reads instead")
	}
	outside := &graphql.FieldContext{}
	if made := graphql.WithFieldContext(context.Background(), outside); made.Value(fieldContextKey) != any(outside) {
		t.Fatalf("graphql.WithFieldContext keeps the context of a field under another key than %#v", fieldContextKey)
	}
	list := &frame{writer: &writer{ctx: t.Context()}}
	list.made.Store(outside)
	item := &frame{writer: list.writer, parent: list, index: 7}
	for name, ctx := range map[string]context.Context{"itself": item, "below": context.WithValue(item, outside, "")} {
		found := graphql.GetFieldContext(ctx)
		if found == nil || found.Index == nil || *found.Index != 7 || found.Parent != outside {
			t.Errorf("%s: graphql.GetFieldContext finds %+v", name, found)
		}
	}
}
