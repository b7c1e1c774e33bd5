package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// selection is what an operation selects below some fields: a resolver that
// returns many objects sees here which relations to load ahead.
type selection struct {
	op   *graphql.OperationContext
	sets []ast.SelectionSet
}

// selected returns what is selected below the field that is being resolved.
func selected(ctx context.Context) selection {
	return selection{graphql.GetOperationContext(ctx), []ast.SelectionSet{graphql.GetFieldContext(ctx).Field.Selections}}
}

// fields returns the selections of the field, more than one when it has
// aliases, whatever type fragments are on.
func (s selection) fields(name string) []graphql.CollectedField {
	var found []graphql.CollectedField
	for _, set := range s.sets {
		for _, field := range graphql.CollectFields(s.op, set, nil) {
			if field.Name == name {
				found = append(found, field)
			}
		}
	}
	return found
}

// below returns what is selected below the fields of those names; nil when
// none of them is selected.
func (s selection) below(names ...string) selection {
	below := selection{op: s.op}
	for _, name := range names {
		for _, field := range s.fields(name) {
			below.sets = append(below.sets, field.Selections)
		}
	}
	return below
}

// nodes returns what is selected of the items of a connection.
func (s selection) nodes() selection {
	nodes, inEdges := s.below("nodes"), s.below("edges").below("node")
	return selection{s.op, append(nodes.sets, inEdges.sets...)}
}

// only tells that nothing but the fields of those names is selected.
func (s selection) only(names ...string) bool {
	for _, set := range s.sets {
		for _, field := range graphql.CollectFields(s.op, set, nil) {
			if !slices.Contains(names, field.Name) {
				return false
			}
		}
	}
	return true
}

func (s selection) empty() bool { return len(s.sets) == 0 }

func (s selection) has(name string) bool { return len(s.fields(name)) > 0 }
