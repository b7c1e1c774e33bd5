package resolvers_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

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
		"Operator": "operators", "Tariff": "tariffs", "User": "users", "AccessKey": "accessKeys", "AuditEntry": "auditLog",
		"Operation": "operations", "Company": "company", "Viewer": "viewer", "Session": "company.sessions",
		"FeedElement": "company.feedElements", "FeedReject": "company.feedRejects", "WaitingUsage": "company.waitingUsage",
	} {
		id := base64.RawURLEncoding.EncodeToString([]byte(kind + ":1"))
		of := query.ForName(field)
		if object, below, nested := strings.Cut(field, "."); nested {
			of = schemaOf().Types[query.ForName(object).Type.Name()].Fields.ForName(below)
		}
		needed := required(of)
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

// What a page lists by connections, and what it shows of the caller, is found again
// by its id.
func TestEveryNodeIsFoundByItsID(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.mustAsk(t, `mutation {createAccessKey(input: {userEmail: "admin@demo.example"}) {accessKey {id}}}`)
	s.mustAsk(t, `mutation {createAlert(input: {ruleType: COMPANY, lowerThreshold: 0, upperThreshold: 1}) {alert {id}}}`)
	a := s.mustAsk(t, `{viewer {id company {id}} users(first: 1) {nodes {id}} accessKeys(first: 1) {nodes {id}} operators(first: 1) {nodes {id}}
  tariffs(first: 1) {nodes {id}} auditLog(first: 1) {nodes {id}} recipients(first: 1) {nodes {id}} alertLog(first: 1) {nodes {id}}}`)
	ids := []any{a.at("viewer", "id"), a.at("viewer", "company", "id")}
	types := []string{"Viewer", "Company"}
	for list, name := range map[string]string{
		"users": "User", "accessKeys": "AccessKey", "operators": "Operator", "tariffs": "Tariff", "auditLog": "AuditEntry", "recipients": "Recipient",
		"alertLog": "AlertLogEntry",
	} {
		ids, types = append(ids, a.at(list, "nodes", 0, "id")), append(types, name)
	}
	found := s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {__typename id}}`, "ids", ids)
	for i, name := range types {
		if found.at("nodes", i) == nil || found.at("nodes", i, "__typename") != name || found.at("nodes", i, "id") != ids[i] {
			t.Errorf("%s: %v", name, found.at("nodes", i))
		}
	}

	// A user of a group finds neither what the company has as a whole, nor operators
	// and tariffs of others.
	group := *s.caller
	group.Scope = domain.Scope{Company: group.Scope.Company, Groups: []int64{999}}
	group.Email = "other@demo.example"
	s.caller = &group
	for i, node := range s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {id}}`, "ids", ids).at("nodes").([]any) {
		if node != nil && types[i] != "Company" {
			t.Errorf("a user of a group finds a %s", types[i])
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
			if node := schemaOf().Types[def.Fields.ForName("nodes").Type.Name()]; !slices.Contains(node.Interfaces, "Node") {
				t.Errorf("%s lists what is no Node", name)
			}
		}
	}
}
