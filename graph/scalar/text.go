package scalar

import "github.com/99designs/gqlgen/graphql"

// MarshalText writes the text of a nullable field: null for "", which stands for
// none in Go.
func MarshalText(s string) graphql.Marshaler {
	if s == "" {
		return graphql.Null
	}
	return graphql.MarshalString(s)
}
