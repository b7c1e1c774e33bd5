package pg

import (
	"github.com/lib/pq"

	"simgraph/domain"
)

// GroupsOf is a scope's $2: NULL where every group is visible.
func GroupsOf(scope domain.Scope) any {
	if !scope.Restricted() {
		return nil
	}
	return pq.Int64Array(scope.Groups)
}

// WholeCompanyOnly returns a Forbidden error for users of groups, to whom the scope shows
// only these.
func WholeCompanyOnly(scope domain.Scope, what string) error {
	if scope.Restricted() {
		return domain.Forbidden("users of groups may not see or change %s", what)
	}
	return nil
}
