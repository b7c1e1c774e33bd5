package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

// selection is what an operation selects below some fields: a resolver that
// returns many objects sees here which relations to load ahead.
type selection struct {
	op *graphql.OperationContext
	// of is how many fields it is below.
	of int
	// collected are the fields, one more than once when it is below several.
	collected []graphql.CollectedField
}

// selected returns what is selected below the field that is being resolved.
func selected(ctx context.Context) selection {
	return selection{op: graphql.GetOperationContext(ctx)}.under(graphql.GetFieldContext(ctx).Field)
}

// with adds what is selected below a field, whatever type fragments are on.
func (s selection) with(field graphql.CollectedField) selection {
	s.of++
	s.collected = append(s.collected, graphql.CollectFields(s.op, field.Selections, nil)...)
	return s
}

// and adds what is selected of the same objects elsewhere.
func (s selection) and(other selection) selection {
	s.of += other.of
	s.collected = append(s.collected, other.collected...)
	return s
}

// fields returns the selections of the field, more than one when it has
// aliases.
func (s selection) fields(name string) []graphql.CollectedField {
	var found []graphql.CollectedField
	for _, field := range s.collected {
		if field.Name == name {
			found = append(found, field)
		}
	}
	return found
}

// below returns what is selected below the fields of that name; empty when it
// is not selected.
func (s selection) below(name string) selection {
	below := selection{op: s.op}
	for i := range s.collected {
		if field := &s.collected[i]; field.Name == name {
			below = below.with(*field)
		}
	}
	return below
}

// under returns what is selected below one of the fields.
func (s selection) under(field graphql.CollectedField) selection {
	return selection{op: s.op}.with(field)
}

// nodes returns what is selected of the items of a connection.
func (s selection) nodes() selection { return s.below("nodes").and(s.below("edges").below("node")) }

// only tells that nothing but the fields of those names is selected.
func (s selection) only(names ...string) bool {
	return !slices.ContainsFunc(s.collected, func(field graphql.CollectedField) bool { return !slices.Contains(names, field.Name) })
}

func (s selection) empty() bool { return s.of == 0 }

func (s selection) has(name string) bool {
	return slices.ContainsFunc(s.collected, func(field graphql.CollectedField) bool { return field.Name == name })
}
