package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
)

// readBy names what the resolvers of Subscriber read beyond the key and the
// physical id. Fields without a resolver have the name of what they read, and a
// resolver that is missing here makes its operations want everything.
var readBy = wantedBy(map[string][]string{
	"id":           {},
	"operator":     {"operatorCode"},
	"tariff":       {"tariffName"},
	"group":        {"groupId"},
	"networkState": {"isTransferring", "isOnline"},
	"parent":       {"parentKey", "parentPhysicalId", "isEnabledOnParent"},
	"related":      {"parentKey", "parentPhysicalId", "isEnabledOnParent", "hasNoProfiles"},
	"profiles":     {"hasNoProfiles"},
	"dataUsage":    {},
	"usage":        {},
	"alerts":       {},
	"tags":         {},
	"numberOfTags": {},
	"__typename":   {},
})

// onlyKey is for those who look for the key of a subscriber alone.
var onlyKey, _ = domain.Want("key")

func wantedBy(read map[string][]string) map[string]domain.Wanted {
	by := make(map[string]domain.Wanted, len(read))
	for field, names := range read {
		by[field] = onlyKey
		for _, name := range names {
			one, _ := domain.Want(name)
			by[field] |= one
		}
	}
	return by
}

// wanted returns what the operation reads of subscribers, wherever it meets them,
// since one that is loaded for one place is handed to all.
func wanted(ctx context.Context) domain.Wanted {
	if !graphql.HasOperationContext(ctx) {
		return domain.Everything
	}
	op := graphql.GetOperationContext(ctx)
	w := wants{of: onlyKey}
	w.visit(op.Operation.SelectionSet)
	for _, fragment := range op.Doc.Fragments {
		w.visit(fragment.SelectionSet)
	}
	if w.all {
		return domain.Everything
	}
	return w.of
}

// wants gathers over selections. Each fragment is visited once, where it is
// defined: following its spreads would take time without bound.
type wants struct {
	of  domain.Wanted
	all bool
}

func (w *wants) visit(set ast.SelectionSet) {
	for _, selected := range set {
		switch s := selected.(type) {
		case *ast.Field:
			w.field(s)
			w.visit(s.SelectionSet)
		case *ast.InlineFragment:
			w.visit(s.SelectionSet)
		}
	}
}

func (w *wants) field(f *ast.Field) {
	if f.ObjectDefinition == nil {
		w.all = true
		return
	}
	if f.ObjectDefinition.Name != "Subscriber" {
		return
	}
	one, known := readBy[f.Name]
	if !known {
		one, known = domain.Want(f.Name)
	}
	w.of |= one
	w.all = w.all || !known
}
