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

// Visible fills {visible} in a statement on rows of a table: with the condition on those that
// users of groups ($2) see, or for the whole company with one that always holds. That names $2
// beside a column of the row alone: a kept plan then leaves out the joins that nothing else
// needs, which it keeps for "$2 IS NULL OR …".
func Visible(sql string, scope domain.Scope, row, toGroups string) string {
	if scope.Restricted() {
		return Fill(sql, "visible", "("+toGroups+")")
	}
	return Fill(sql, "visible", "("+row+".company_id = $1 OR $2::bigint[] IS NULL)")
}

// WholeCompanyOnly returns a Forbidden error for users of groups, to whom the scope shows
// only these.
func WholeCompanyOnly(scope domain.Scope, what string) error {
	if scope.Restricted() {
		return domain.Forbidden("users of groups may not see or change %s", what)
	}
	return nil
}
