package resolvers

import (
	"context"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
)

// Present makes the public form of an error of the domain: its kind is the
// code, and its place in the arguments of the field at fault, or in the input of a
// mutation, the field. Nil for any other error: those must not reach callers.
func Present(ctx context.Context, err error) *gqlerror.Error {
	fault, is := domain.AsError(err)
	if !is {
		return nil
	}
	public := &gqlerror.Error{Err: fault, Message: fault.Message, Extensions: map[string]any{"code": string(fault.Kind)}}
	if place := fault.Place(); place != "" {
		public.Extensions["field"] = inInput(ctx, place)
	}
	return public
}

// inInput completes a place that begins with a field of an object in the input of a
// mutation: groupIds[1] is scope.groupIds[1].
func inInput(ctx context.Context, place string) string {
	of := graphql.GetFieldContext(ctx)
	if of == nil || of.Object != "Mutation" {
		return place
	}
	first, rest := place, ""
	if end := strings.IndexAny(place, ".["); end >= 0 {
		first, rest = place[:end], place[end:]
	}
	if whole, nested := nestedFields()[of.Field.Name][first]; nested {
		return whole + rest
	}
	return place
}

// nestedFields has, for each mutation, the paths of the fields that its input has in
// objects alone, by their names. What stands in lists has a place of its own.
var nestedFields = sync.OnceValue(func() map[string]map[string]string {
	schema := schemaOnly()
	all := map[string]map[string]string{}
	for _, mutation := range schema.Mutation.Fields {
		if input := mutation.Arguments.ForName("input"); input != nil {
			all[mutation.Name] = nested(schema, schema.Types[input.Type.Name()])
		}
	}
	return all
})

// nested goes one object deep, which is how deep inputs are.
func nested(schema *ast.Schema, input *ast.Definition) map[string]string {
	paths := map[string]string{}
	for _, outer := range input.Fields {
		within := schema.Types[outer.Type.Name()]
		if outer.Type.Elem != nil || within.Kind != ast.InputObject || strings.HasSuffix(within.Name, "Filter") {
			continue
		}
		for _, inner := range within.Fields {
			if input.Fields.ForName(inner.Name) == nil {
				paths[inner.Name] = outer.Name + "." + inner.Name
			}
		}
	}
	return paths
}

// Fields that can fail are nullable in the schema and marked @semanticNonNull:
// they are null only together with their error. These functions return what a
// port or a loader returned in that form.

// present returns a value of which the zero is an answer.
func present[T any](value T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// number returns a count as the graph's Int.
func number(n int, err error) (*int32, error) { return present(int32(n), err) }

// items returns a list that is empty where the loader has none.
func items[T any](list []T, err error) ([]T, error) {
	if list == nil && err == nil {
		list = []T{}
	}
	return list, err
}
