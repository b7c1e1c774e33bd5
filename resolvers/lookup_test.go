package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// notLookedUp are the types of nodes that have no root of their own, and why.
var notLookedUp = map[string]string{
	"Company": "there is one: company", "Viewer": "there is one: viewer",
	"VolumeAlert": "alert(by:) finds alerts of all kinds", "ConditionAlert": "alert(by:) finds alerts of all kinds",
	"VolumeLogEntry": "an entry of a log that is read as a whole", "ConditionLogEntry": "an entry of a log that is read as a whole",
	"MailDelivery": "what was sent is read as a whole", "AlertDelivery": "what was sent is read as a whole", "WebhookDelivery": "what was sent is read as a whole",
	"OperationResult": "a part of an operation", "Session": "a part of a subscriber, and has no natural key of one part",
	"FeedElement": "a part of the company", "FeedReject": "a part of the company", "UsageSource": "a part of the company", "WaitingUsage": "a part of the company",
	"FieldUsage":   "a count, which is read in a list",
	"SourceReject": "a part of a source, and has no natural key",
}

// Every noun has a root that takes its global id or its natural key, and answers null for
// what is not there.
func TestEveryNounIsLookedUpInOneWay(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	for _, node := range schema.GetPossibleTypes(schema.Types["Node"]) {
		root := schema.Query.Fields.ForName(lowerFirst(node.Name))
		if _, other := notLookedUp[node.Name]; other {
			if root != nil && len(root.Arguments) == 1 && root.Arguments[0].Name == "by" {
				t.Errorf("%s is looked up like the others, and stands among those that are not", node.Name)
			}
			continue
		}
		if root == nil || root.Type.String() != node.Name || root.Directives.ForName("semanticNonNull") != nil ||
			len(root.Arguments) != 1 || root.Arguments[0].Name != "by" || root.Arguments[0].Type.String() != node.Name+"Key!" {
			t.Errorf("there must be %s(by: %sKey!): %s, null where none is there", lowerFirst(node.Name), node.Name, node.Name)
			continue
		}
		key := schema.Types[node.Name+"Key"]
		if id := key.Fields.ForName("id"); key.Directives.ForName("oneOf") == nil || id == nil || id.Type.String() != "ID" || len(key.Fields) < 2 {
			t.Errorf("%s must be @oneOf of id: ID and the natural key", key.Name)
		}
	}
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// Inputs of which exactly one field counts say so. These have nothing but optional fields,
// and take more than one of them, or none.
var severalCount = map[string]string{
	"ParentFilter": "a filter", "SilenceScopeInput": "lists restrict each other", "WebhookScopeInput": "lists restrict each other", "RecipientScopeInput": "lists add up",
	"SubscriberChange": "several values may change at once", "DashboardCommonInput": "a span, and whose usage it is",
}

func TestInputsOfWhichOneFieldCountsAreOneOf(t *testing.T) {
	t.Parallel()
	for _, def := range schemaOf().Types {
		if def.Kind != ast.InputObject || strings.HasSuffix(def.Name, "Filter") || def.Directives.ForName("oneOf") != nil || severalCount[def.Name] != "" {
			continue
		}
		optional := 0
		for _, field := range def.Fields {
			if !field.Type.NonNull && field.DefaultValue == nil {
				optional++
			}
		}
		if optional == len(def.Fields) && optional > 1 {
			t.Errorf("%s has nothing but optional fields: it must be @oneOf, or stand among those of which several count", def.Name)
		}
	}
}

func TestLookingUpAnswersNullForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, schema := newStack(t), schemaOf()
	found := 0
	for _, root := range schema.Query.Fields {
		by := root.Arguments.ForName("by")
		if by == nil || !strings.HasSuffix(by.Type.Name(), "Key") {
			continue
		}
		key := schema.Types[by.Type.Name()]
		for _, field := range key.Fields {
			value := map[string]string{"Int": "99999", "BigInt": "99999"}[field.Type.Name()]
			if value == "" {
				value = `"none"`
			}
			a := s.mustAsk(t, fmt.Sprintf(`{%s(by: {%s: %s}) {id}}`, root.Name, field.Name, value))
			if got := a.at(root.Name); got != nil {
				t.Errorf("%s by %s: %v", root.Name, field.Name, got)
			}
		}
		for _, list := range schema.Query.Fields {
			if list.Type.Name() != root.Type.Name()+"Connection" {
				continue
			}
			nodes := s.mustAsk(t, fmt.Sprintf(`{%s(first: 1) {nodes {id}}}`, list.Name)).at(list.Name, "nodes").([]any)
			if len(nodes) == 0 {
				continue
			}
			found++
			id := nodes[0].(map[string]any)["id"]
			if got := s.mustAsk(t, fmt.Sprintf(`{%s(by: {id: "%v"}) {id}}`, root.Name, id)).at(root.Name, "id"); got != id {
				t.Errorf("%s by the id %v: %v", root.Name, id, got)
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d objects were found by their ids", found)
	}
	subscriber := s.mustAsk(t, `{subscribers(first: 1) {nodes {id physicalId}}}`)
	id := subscriber.at("subscribers", "nodes", 0, "id")
	if got := s.mustAsk(t, `query ($key: SubscriberKey!) {subscriber(by: $key) {id}}`, "key", map[string]any{"physicalId": subscriber.at("subscribers", "nodes", 0, "physicalId")}).at("subscriber", "id"); got != id {
		t.Errorf("by the natural key: %v, not %v", got, id)
	}
	if got := s.mustAsk(t, fmt.Sprintf(`{group(by: {id: "%v"}) {id}}`, id)).at("group"); got != nil {
		t.Errorf("a group by the id of a subscriber: %v", got)
	}
}
