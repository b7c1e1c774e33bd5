package resolvers_test

import (
	"encoding/base64"
	"fmt"
	"slices"
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
				a := s.mustAsk(t, ask, "id", id)
				if got := fmt.Sprint(a.Data); got != "map[node:<nil>]" && got != "map[nodes:[<nil>]]" || a.Statements != 0 {
					t.Errorf("%s of a %s without %s: %s, %d statements", ask, kind, lacking, got, a.Statements)
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

// One id of a page that is outdated, damaged or of another's object must not
// cost the others.
func TestNodesAreNullOneByOne(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	all := s.mustAsk(t, `{subscribers(first: 1) {nodes {id}} alerts(first: 1) {nodes {id}}}`)
	subscriber, alert := all.at("subscribers", "nodes", 0, "id"), all.at("alerts", "nodes", 0, "id")
	s.caller = with(s.caller, []domain.Permission{domain.ViewSubscriber})
	a := s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {id}}`,
		"ids", []any{"nonsense", "", subscriber, alert, "R3JvdXA6bm9uZQ", "U3Vic2NyaWJlcjpub25l", "UXVlcnk6MQ", subscriber})
	want := fmt.Sprintf("[<nil> <nil> map[id:%s] <nil> <nil> <nil> <nil> map[id:%[1]s]]", subscriber)
	if got := fmt.Sprint(a.at("nodes")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.mustAsk(t, `{node(id: "nonsense") {id}}`).at("node"); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestNodesTakesAHundredIDs(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.mustAsk(t, `{subscribers(first: 1) {nodes {id}}}`).at("subscribers", "nodes", 0, "id")
	ids := slices.Repeat([]any{id}, 100)
	if got := s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {id}}`, "ids", ids).at("nodes").([]any); len(got) != 100 || got[99] == nil {
		t.Errorf("%d nodes for 100 ids", len(got))
	}
	a := s.ask(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {id}}`, "ids", append(ids, id))
	if a.code() != "INVALID_PARAMETER" || a.Errors[0].Extensions["field"] != "ids" || a.at("nodes") != nil {
		t.Errorf("101 ids: %v", a.Errors)
	}
}
