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

// WholeCompanyOnly returns the Forbidden error for users of groups.
func WholeCompanyOnly(what string) error {
	return domain.Forbidden("users of groups may not see or change %s", what)
}
