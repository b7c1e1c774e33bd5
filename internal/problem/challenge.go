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

// Challenged adds the challenge of RFC 6750 §3 when the problem is a credential
// that was refused. needed are the permissions that the path asks for.
func (p *Problem) Challenged(needed ...domain.Permission) *Problem {
	switch domain.ErrorKind(p.Code) {
	case domain.KindUnauthorized:
		return p.With(challengeHeader, bearer)
	case domain.KindInvalidToken:
		return p.With(challengeHeader, bearer+`, error="invalid_token"`)
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
