package resolvers_test

import (
	"fmt"
	"testing"
)

// Each list by offset has the part that is asked for.
func TestEveryListByOffsetHasThePartThatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for n := range 5 {
		s.mustAsk(t, fmt.Sprintf(`mutation {
  createAlert(input: {ruleType: COMPANY, lowerThreshold: %d, upperThreshold: %[1]d9}) {alert {id}}
  createRecipient(input: {email: "person%[1]d@demo.example", scope: {all: true}}) {recipient {id}}
}`, n+1))
	}
	s.mustAsk(t, `mutation ($ids: [String!]!) {attachTag(input: {tagName: "one", physicalIds: $ids}) {attached}}`, "ids", s.subscriberIDs(t, 5))
	required := map[string]string{"taggedSubscriberList": `tagName: "one", `}
	lists := 0
	for _, field := range rootFields(schemaOf())["query"] {
		if field.Arguments.ForName("limit") == nil || field.Arguments.ForName("offset") == nil {
			continue
		}
		lists++
		items := func(arguments string) []any {
			return s.mustAsk(t, `{list: `+field.Name+`(`+required[field.Name]+arguments+`) {items {id}}}`).at("list", "items").([]any)
		}
		all := items(`limit: 100`)
		if len(all) < 4 {
			t.Errorf("%s: only %d", field.Name, len(all))
			continue
		}
		if got, want := items(`limit: 3, offset: 1`), all[1:4]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", field.Name, got, want)
		}
	}
	if lists < 6 {
		t.Errorf("only %d lists", lists)
	}
}
