package resolvers_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"simgraph/domain"
)

// node(id) must not be a way around the permissions of the field that leads to
// the same object.
func TestAnObjectNeedsByItsIDWhatItsOwnFieldNeeds(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	everything, query := s.caller, rootFields(schemaOf())["query"]
	for kind, field := range map[string]string{
		"Subscriber": "subscriber", "Group": "group", "Tag": "tag", "Alert": "alert", "AlertLogEntry": "alertLog", "Recipient": "recipients",
	} {
		id := base64.RawURLEncoding.EncodeToString([]byte(kind + ":1"))
		needed := required(query.ForName(field))
		for _, lacking := range needed {
			s.caller = with(everything, slices.DeleteFunc(domain.AllPermissions(), func(p domain.Permission) bool { return string(p) == lacking }))
			for _, ask := range []string{`query ($id: ID!) {node(id: $id) {id}}`, `query ($id: ID!) {nodes(ids: [$id]) {id}}`} {
				a := s.ask(t, ask, "id", id)
				if a.code() != "FORBIDDEN" || !strings.Contains(a.Errors[0].Message, domain.Permission(lacking).Label()) || a.Statements != 0 {
					t.Errorf("%s of a %s without %s: %v, %d statements", ask, kind, lacking, a.Errors, a.Statements)
				}
			}
		}
		s.caller = with(everything, permissions(needed))
		s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id}}`, "id", id)
	}
}

// with returns the caller with other permissions.
func with(caller *domain.Caller, of []domain.Permission) *domain.Caller {
	other := *caller
	other.Permissions = of
	return &other
}

func permissions(names []string) []domain.Permission {
	all := make([]domain.Permission, len(names))
	for i, name := range names {
		all[i] = domain.Permission(name)
	}
	return all
}
