package resolvers

import (
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

// lengths are the lists of an input that narrow what it is for, by name, and how many
// items each has; -1 for a list that is missing.
type lengths map[string]int

func length[T any](of graphql.Omittable[[]T]) int {
	if of.Value() == nil {
		return -1
	}
	return len(of.Value())
}

// mustSay refuses an input that says nothing: all must be true, or at least one of the
// lists there, and none of them empty. Both at once is refused too.
func mustSay(all graphql.Omittable[*bool], lists lengths) error {
	everything := all.Value() != nil && *all.Value()
	said := everything
	names := slices.Sorted(maps.Keys(lists))
	for _, name := range names {
		switch n := lists[name]; {
		case n == 0:
			return domain.Invalid(name, "%s must not be empty: leave it out, and say all: true for everything", name)
		case n > 0 && everything:
			return domain.Invalid("all", "all: true and %s exclude each other", name)
		case n > 0:
			said = true
		}
	}
	if !said {
		return domain.Invalid("all", "nothing says everything only as all: true; else name %s", strings.Join(names, " or "))
	}
	return nil
}
