package resolvers_test

import (
	"fmt"
	"testing"
)

// TestChangesThatStayInTheInventorySaySo changes a subscriber with a provider and without.
func TestChangesThatStayInTheInventorySaySo(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	found := s.mustAsk(t, `{commandProvider {url} subscribers(first: 1, filter: {isBarred: {eq: false}, isActive: {eq: true}}) {nodes {physicalId}}}`)
	sim := fmt.Sprint(found.at("subscribers", "nodes", 0, "physicalId"))
	if found.at("commandProvider") != nil {
		t.Errorf("there is a provider: %v", found.at("commandProvider"))
	}
	change := func(mutation, input string) *response {
		return s.mustAsk(t, fmt.Sprintf(`mutation {change: %s(input: {physicalId: "%s"%s}) {isInventoryOnly command {commandId kind state subscriber {physicalId} operation {id}}}}`, mutation, sim, input))
	}
	if a := change("barSubscriber", ""); a.at("change", "isInventoryOnly") != true || a.at("change", "command") != nil {
		t.Errorf("without a provider: %v", a.Data)
	}
	made := s.mustAsk(t, `mutation {setCommandProvider(input: {url: "https://carrier.example/commands"}) {secret provider {url disabledAt}}}`)
	if made.at("setCommandProvider", "secret") == nil {
		t.Errorf("a new provider has no secret: %v", made.Data)
	}
	if again := s.mustAsk(t, `mutation {setCommandProvider(input: {url: "https://carrier.example/other"}) {secret provider {url}}}`); again.at("setCommandProvider", "secret") != nil {
		t.Errorf("the secret is shown again: %v", again.Data)
	}
	if a := change("barSubscriber", ""); a.at("change", "isInventoryOnly") != false || a.at("change", "command") != nil {
		t.Errorf("what is barred already: %v", a.Data)
	}
	for _, c := range [][3]string{
		{"unbarSubscriber", "", "UNBAR"}, {"terminateSubscriber", "", "TERMINATE"}, {"editSubscriber", ", terminateDate: null", "DEACTIVATE"}, {"editSubscriber", ", isActive: true", "ACTIVATE"},
	} {
		a := change(c[0], c[1])
		if a.at("change", "isInventoryOnly") != false || a.at("change", "command", "kind") != c[2] || a.at("change", "command", "state") != "REQUESTED" ||
			a.at("change", "command", "subscriber", "physicalId") != sim {
			t.Errorf("%s: %v", c[0], a.Data)
		}
	}
	listed := s.mustAsk(t, fmt.Sprintf(`{
  subscriber(by: {physicalId: "%s"}) {commands(first: 1, filter: {state: {eq: REQUESTED}}) {totalCount nodes {kind attempts reason}} ended: commands(filter: {state: {eq: SUPERSEDED}}) {totalCount}}
  commands(filter: {kind: {eq: UNBAR}}, orderBy: {field: REQUESTED_AT}) {totalCount nodes {kind state}}}`, sim))
	if listed.at("subscriber", "commands", "totalCount") != 2.0 || listed.at("subscriber", "commands", "nodes", 0, "kind") != "ACTIVATE" ||
		listed.at("subscriber", "ended", "totalCount") != 2.0 || listed.at("commands", "totalCount") != 1.0 || listed.at("commands", "nodes", 0, "state") != "REQUESTED" {
		t.Errorf("the commands are %v", listed.Data)
	}
	started := s.mustAsk(t, fmt.Sprintf(`mutation {startSubscriberChange(input: {physicalIds: ["%s"], change: {isBarred: true}}) {isInventoryOnly}}`, sim))
	if started.at("startSubscriberChange", "isInventoryOnly") != false {
		t.Errorf("an operation with a provider: %v", started.Data)
	}
}
