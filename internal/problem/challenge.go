package problem

import (
	"strings"

	"simgraph/domain"
)

const (
	challengeHeader = "WWW-Authenticate"
	bearer          = `Bearer realm="simgraph"`
	// Basic is the challenge of the endpoints that take an access key.
	Basic = `Basic realm="simgraph"`
)

// Challenge is what an endpoint that takes bearer tokens answers refused credentials
// with.
type Challenge struct {
	// Metadata is the address of the metadata of RFC 9728, which leads clients to where
	// tokens are issued; "" for none.
	Metadata string
}

// Of adds the challenge of RFC 6750 §3 when the problem is a credential that was
// refused. needed are the permissions that the path asks for.
func (c Challenge) Of(p *Problem, needed ...domain.Permission) *Problem {
	metadata := ""
	if c.Metadata != "" {
		metadata = `, resource_metadata="` + c.Metadata + `"`
	}
	switch domain.ErrorKind(p.Code) {
	case domain.KindUnauthorized:
		return p.With(challengeHeader, bearer+metadata)
	case domain.KindInvalidToken:
		return p.With(challengeHeader, bearer+`, error="invalid_token"`+metadata)
	case domain.KindForbidden:
		return p.With(challengeHeader, bearer+`, error="insufficient_scope", scope="`+scopes(needed)+`"`)
	}
	return p
}

func scopes(needed []domain.Permission) string {
	names := make([]string, len(needed))
	for i, permission := range needed {
		names[i] = string(permission)
	}
	return strings.Join(names, " ")
}
