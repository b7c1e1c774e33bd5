package resolvers

import (
	"strings"

	"simgraph/domain"
)

// Riding are the fields, as Type.field, that a store can select with the object.
func Riding() []string {
	var fields []string
	for _, r := range relations {
		if r.riding == rides {
			for _, name := range strings.Fields(r.names) {
				fields = append(fields, r.object+"."+name)
			}
		}
	}
	return fields
}

// NodePermissions are what a caller needs to find a type by its id.
func NodePermissions(kind string) []domain.Permission { return nodePermissions()[kind] }
