package guard

import "github.com/vektah/gqlparser/v2/ast"

// Permissions are those that @guard asks for among the directives of a field.
func Permissions(directives ast.DirectiveList) (permissions []string) {
	guard := directives.ForName("guard")
	if guard == nil {
		return nil
	}
	if named := guard.Arguments.ForName("permissions"); named != nil {
		for _, child := range named.Value.Children {
			permissions = append(permissions, child.Value.Raw)
		}
	}
	return permissions
}
