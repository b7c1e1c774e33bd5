package resolvers_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/resolvers"
)

// Each type is refused for lack of each of its permissions before anything is read.
// That the permissions suffice is tested on objects of all types in test/security.
func TestAnObjectThatMayNotBeSeenIsNotReadByItsID(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	everything := s.caller
	for _, kind := range nodeTypes() {
		id := base64.RawURLEncoding.EncodeToString([]byte(kind + ":1"))
		for _, lacking := range resolvers.NodePermissions(kind) {
			s.caller = with(everything, slices.DeleteFunc(domain.AllPermissions(), func(p domain.Permission) bool { return p == lacking }))
			for ask, want := range map[string]string{
				`query ($id: ID!) {node(id: $id) {id}}`:     "map[node:<nil>]",
				`query ($id: ID!) {nodes(ids: [$id]) {id}}`: "map[nodes:[<nil>]]",
				`query ($id: ID!) {_entities(representations: [{__typename: "` + kind + `", id: $id}]) {... on Node {id}}}`: "map[_entities:[<nil>]]",
			} {
				a := s.mustAsk(t, ask, "id", id)
				if got := fmt.Sprint(a.Data); got != want || a.Statements != 0 {
					t.Errorf("%s of a %s without %s: %s, %d statements", ask, kind, lacking, got, a.Statements)
				}
			}
		}
		s.caller = with(everything, resolvers.NodePermissions(kind))
		s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id}}`, "id", id)
	}
}

// nodeTypes are the names of the types that have ids over all types.
func nodeTypes() []string {
	schema, names := schemaOf(), []string{}
	for _, def := range schema.GetPossibleTypes(schema.Types["Node"]) {
		names = append(names, def.Name)
	}
	return names
}

// with returns the caller with other permissions.
func with(caller *domain.Caller, of []domain.Permission) *domain.Caller {
	other := *caller
	other.Permissions = of
	return &other
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
		"ids", []any{"nonsense", "", subscriber, alert, "R3JvdXA6bm9uZQ", "U3Vic2NyaWJlcjpub25l", "UXVlcnk6MQ", subscriber,
			base64.RawURLEncoding.EncodeToString([]byte("Subscriber:a\x00b")), base64.RawURLEncoding.EncodeToString([]byte("Subscriber:a\xff"))})
	want := fmt.Sprintf("[<nil> <nil> map[id:%s] <nil> <nil> <nil> <nil> map[id:%[1]s] <nil> <nil>]", subscriber)
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

func TestEveryNodeIsFoundByItsID(t *testing.T) {
	t.Parallel()
	for _, kind := range nodeTypes() {
		if resolvers.NodePermissions(kind) == nil {
			t.Errorf("%s: declare by nodesByText, nodesByNumber or nodes how it is found, and have a field of Query or Company lead to it", kind)
		}
	}
}

// TestEveryObjectThatHasAnIDIsANode keeps the keys of clients' caches complete.
func TestEveryObjectThatHasAnIDIsANode(t *testing.T) {
	t.Parallel()
	for name, def := range schemaOf().Types {
		if def.Kind == ast.Object && def.Fields.ForName("id") != nil && !slices.Contains(def.Interfaces, "Node") {
			t.Errorf("%s has an id and is no Node", name)
		}
		if strings.HasSuffix(name, "Connection") {
			listed := schemaOf().Types[def.Fields.ForName("nodes").Type.Name()]
			for _, node := range schemaOf().GetPossibleTypes(listed) {
				if !slices.Contains(node.Interfaces, "Node") {
					t.Errorf("%s lists a %s, which is no Node", name, node.Name)
				}
			}
		}
	}
}
