package resolvers

import (
	"context"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/federation"
	"simgraph/graph/generated"
	"simgraph/graph/model"
	"simgraph/graph/scalar"
)

// schemaOnly is the schema without what answers it.
var schemaOnly = sync.OnceValue(func() *ast.Schema { return generated.NewExecutableSchema(generated.Config{}).Schema() })

// SubgraphSDL is the schema that a gateway composes.
var SubgraphSDL = sync.OnceValue(func() string { return federation.SDL(schemaOnly()) })

// entityKeys are the fields that name an object, by its type.
var entityKeys = sync.OnceValue(func() map[string][]federation.Key { return federation.Keys(schemaOnly()) })

func (q queryResolver) Service(context.Context) (model.Service, error) {
	return model.Service{SDL: SubgraphSDL()}, nil
}

// Entities adds an error for each representation that cannot be read, and answers the others.
func (q queryResolver) Entities(ctx context.Context, representations []map[string]any) ([]model.Node, error) {
	ids := make([]string, len(representations))
	for i, representation := range representations {
		id, err := representedID(representation)
		if err != nil {
			graphql.AddError(graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i}), err)
		}
		ids[i] = id
	}
	return q.nodes(ctx, ids)
}

// representedID returns the global id of what a representation names, by the first key that it has.
func representedID(representation map[string]any) (string, error) {
	kind, _ := representation["__typename"].(string)
	keys, known := entityKeys()[kind]
	if !known {
		return "", domain.Invalid("representations", "__typename must be a type with a key, not %.100q", kind)
	}
	for _, key := range keys {
		value := representation[key.Field]
		if value == nil {
			continue
		}
		text, ok := keyText(key.Scalar, value)
		if !ok {
			return "", domain.Invalid("representations", "%s of %s must be of the type %s", key.Field, kind, key.Scalar)
		}
		if key.Scalar != "ID" {
			return globalID(kind, text), nil
		}
		if of, _, known := parseGlobalID(text); known && of == kind {
			return text, nil
		}
		return "", nil
	}
	names := each(keys, func(key federation.Key) string { return key.Field })
	return "", domain.Invalid("representations", "%s must have one of its keys: %s", kind, strings.Join(names, ", "))
}

// keyText is a key as the second part of global ids has it; false for a value of another scalar.
func keyText(of string, value any) (string, bool) {
	text, isText := value.(string)
	if of == "ID" || of == "String" || isText && of == "Int" {
		return text, isText && of != "Int"
	}
	n, err := scalar.UnmarshalBigInt(value)
	return formatID(n), err == nil
}
