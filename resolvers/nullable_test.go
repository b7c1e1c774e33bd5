package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
	"simgraph/graph/plan"
	"simgraph/resolvers"
)

// What a caller always has: these root fields need no permission and no load.
var alwaysThere = []string{"Query.viewer", "Query.company"}

// What the specification of federation has.
var asSpecified = []string{"Query._service", "Query._entities"}

// TestFieldsThatCanFailAreNullable is the rule of the schema: a field that needs a
// permission, loads, or stands at the root takes nothing with it when it fails.
func TestFieldsThatCanFailAreNullable(t *testing.T) {
	t.Parallel()
	executable := resolvers.New(resolvers.Ports{}, clock).Schema()
	objects := executable.(plan.Executable).Plan().Objects
	roots := []string{"Query", "Mutation", "Subscription"}
	for name, def := range executable.Schema().Types {
		if def.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		for _, field := range def.Fields {
			path := name + "." + field.Name
			loads := field.Name == "totalCount" || objects[name] != nil && objects[name].Fields[field.Name] != nil && objects[name].Fields[field.Name].Relation != nil
			root := slices.Contains(roots, name) && !strings.HasPrefix(field.Name, "__") && !slices.Contains(slices.Concat(alwaysThere, asSpecified), path)
			fails := root || loads || len(guard.Permissions(field.Directives)) > 0
			marked := field.Directives.ForName("semanticNonNull") != nil
			switch {
			case fails && field.Type.NonNull:
				t.Errorf("%s can fail and must be nullable", path)
			case marked && !fails:
				t.Errorf("%s cannot fail, and is marked @semanticNonNull", path)
			}
		}
	}
}

// An error is that of its field: the fields beside it are answered.
func TestAnErrorOfAFieldLeavesTheRestOfTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.caller = with(s.caller, []domain.Permission{domain.ViewSubscriber})
	for _, c := range []struct{ query, code, data string }{
		{`{subscribers(first: 1) {totalCount} alerts(first: 1) {totalCount}}`, "FORBIDDEN", `map[alerts:<nil> subscribers:map[totalCount:120]]`},
		{`{subscribers(first: 1) {totalCount} tags(first: 101) {totalCount}}`, "INVALID_PARAMETER", `map[subscribers:map[totalCount:120] tags:<nil>]`},
		{`{company {externalId usage {totals {total}} fleet {total}}}`, "FORBIDDEN", `map[company:map[externalId:demo fleet:map[total:120] usage:<nil>]]`},
		{`{groups(first: 1) {nodes {groupId subscribers(first: 101) {totalCount}}}}`, "INVALID_PARAMETER", `map[groups:map[nodes:[map[groupId:1 subscribers:<nil>]]]]`},
		{`mutation {a: editGroup(input: {groupId: 1, name: "one"}) {group {name}} b: deleteAlert(input: {alertId: 1}) {alert {alertId}}}`, "FORBIDDEN", `map[a:<nil> b:<nil>]`},
	} {
		a := s.ask(t, c.query)
		if got := fmt.Sprint(a.Data); got != c.data || a.code() != c.code {
			t.Errorf("%s\n got %s\nwant %s\n%v", c.query, got, c.data, a.Errors)
		}
	}
}

// A list that is nullable because it can fail is empty where there is nothing.
func TestListsWithoutItemsAreEmptyNotNull(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	if _, err := s.pool.ExecContext(t.Context(), `DELETE FROM subscriber_tags`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a := s.mustAsk(t, `mutation {createRecipient(input: {email: "nobody@demo.example", scope: {all: true}}) {recipient {mails {deliveryId}}}}`)
		if got := a.at("createRecipient", "recipient", "mails"); fmt.Sprint(got) != "[]" {
			t.Errorf("mails: %v", got)
		}
	}
	a := s.mustAsk(t, `{subscribers(first: 100, filter: {kind: {eq: SATELLITE}}) {nodes {tags {name} profiles {id} alerts {status}}}
  groups {nodes {alerts {nodes {id}}}} viewer {groups {nodes {id}}} company {usageSources {nodes {source}} usage(start: "2020-01-01T00:00:00Z", end: "2020-01-02T00:00:00Z") {
    series(zeroFill: false) {start} breakdown(by: TAG) {value} topSubscribers {total}}}}`)
	if text := fmt.Sprint(a.Data); strings.Contains(text, "<nil>") {
		t.Errorf("null: %s", text)
	}
}
