package resolvers_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// unknown are inputs with an identifier of nothing, or a value that is refused,
// and the field at fault.
var unknown = map[string][][2]string{
	"createAlert": {
		{`ruleType: SIM, target: "nobody", lowerThreshold: "1", upperThreshold: "2"`, "target"},
		{`ruleType: COMPANY, lowerThreshold: "3", upperThreshold: "2"`, "lowerThreshold"},
	},
	"editAlert":        {{`alertId: 999, lowerThreshold: "1"`, "alertId"}},
	"deleteAlert":      {{`alertId: 999`, "alertId"}},
	"createRecipient":  {{`email: "a@b"`, "email"}},
	"editRecipient":    {{`recipientId: 999, email: "a@b.example"`, "recipientId"}, {`recipientId: 1, email: "a"`, "email"}},
	"deleteRecipient":  {{`recipientId: 999`, "recipientId"}},
	"restoreRecipient": {{`recipientId: 999`, "recipientId"}},
	"sendTestAlert":    {{`recipientId: 999`, "recipientId"}},
	"editSubscriber":   {{`physicalId: "nobody", nickname: "x"`, "physicalId"}},
	"editGroup":        {{`groupId: 999, name: "x"`, "groupId"}, {`groupId: 12, name: " "`, "name"}},
	"attachTag":        {{`tagName: "x", physicalIds: ["nobody"]`, "physicalIds"}, {`tagName: " ", physicalIds: ["nobody"]`, "tagName"}},
	"detachTag":        {{`tagName: "x", physicalIds: ["nobody"]`, "physicalIds"}},
	"createAccessKey":  {{`userEmail: "nobody@acme.example"`, "userEmail"}},
	"revokeAccessKey":  {{`accessKeyId: "none"`, "accessKeyId"}},
	"recordUsage":      {{`records: []`, "records"}},
}

// An error names the field of the input that is at fault, as the schema spells it.
func TestErrorsOfMutationsNameTheFieldOfTheInput(t *testing.T) {
	t.Parallel()
	s, mutations := newStack(t), schemaOf().Mutation.Fields
	for _, mutation := range mutations {
		if unknown[mutation.Name] == nil {
			t.Errorf("%s: no wrong input is listed", mutation.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		input := schemaOf().Types[mutations.ForName(name).Arguments.ForName("input").Type.Name()]
		for _, c := range unknown[name] {
			a := s.ask(t, fmt.Sprintf(`mutation {%s(input: {%s}) {__typename}}`, name, c[0]))
			if len(a.Errors) != 1 || a.Errors[0].Extensions["field"] != c[1] || input.Fields.ForName(c[1]) == nil {
				t.Errorf("%s(%s): got %v, want an error of %s", name, c[0], a.Errors, c[1])
			}
		}
	}
}
