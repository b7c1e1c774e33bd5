// Package plan writes answers from a plan that is made once for an operation:
// below a root field that gqlgen has resolved, it walks the values with the
// resolvers of the schema and appends JSON to one buffer, where gqlgen's own
// executor builds contexts, closures and goroutines for every single field.
//
// Answers and errors are those of gqlgen's executor. What the plan does not
// cover is left to it.
package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// Schema holds how the fields of objects are answered. The package generator
// writes it from what gqlgen reads of the schema.
type Schema struct {
	// Roots are the values of the fields of Query and Mutation, by type and
	// field. What is missing here is left to gqlgen.
	Roots   map[string]map[string]*Shape
	Objects map[string]*Object
}

// Object is an object type of the schema.
type Object struct {
	// Satisfies names the type itself and its interfaces.
	Satisfies []string
	// Fields that are missing are left to gqlgen, with the whole root field.
	Fields map[string]*Field
}

// Field is how one field of an object is answered. Objects come as pointers.
// Exactly one of Plain, Leaf and Resolve is set.
type Field struct {
	NonNull bool
	// Needs are bits to which the owner of the schema gives a meaning: see
	// the function Needs.
	Needs uint64
	// Relation loads what the field needs, for many objects at once; nil when
	// it needs no load.
	Relation Relation
	// Plain appends a leaf value; false is null, and nothing was appended.
	Plain func(b []byte, object any) ([]byte, bool)
	// Leaf is Plain with a resolver.
	Leaf func(ctx context.Context, object any, fc *Arguments, b []byte) ([]byte, bool, error)
	// Resolve returns a value that Shape describes.
	Resolve func(ctx context.Context, object any, fc *Arguments) (any, error)
	Shape   *Shape
	// Guard runs the directives of the field around next, which is Resolve; nil
	// when the field has none.
	Guard func(ctx context.Context, object any, next graphql.Resolver) (any, error)
	// Arguments coerces arguments; nil when the field has none.
	Arguments func(ctx context.Context, raw map[string]any) (map[string]any, error)
	// Context makes gqlgen's context of the field, and reports bad arguments.
	Context func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error)
}

// guarded resolves the field unless a directive refuses.
func (f *Field) guarded(ctx context.Context, object any, args *Arguments) (any, error) {
	if f.Guard == nil {
		return f.Resolve(ctx, object, args)
	}
	return f.Guard(ctx, object, func(ctx context.Context) (any, error) { return f.Resolve(ctx, object, args) })
}

// Arguments are coerced arguments, once for all objects of a response:
// resolvers only read them.
type Arguments struct{ Args map[string]any }

// Executable is the schema that gqlgen generates, when it can be planned.
type Executable interface {
	graphql.ExecutableSchema
	Plan() *Schema
}
