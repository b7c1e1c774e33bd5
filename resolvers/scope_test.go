package resolvers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// harmlessLists are optional lists of inputs of which a missing or an empty one does nothing.
var harmlessLists = map[string]string{
	"SubscriberChange.addTags": "adds nothing", "SubscriberChange.removeTags": "removes nothing",
	"SubscriberChangeRow.addTags": "adds nothing", "SubscriberChangeRow.removeTags": "removes nothing",
	"ConditionInput.changesOf":   "an empty one is refused, and one of the conditions is needed",
	"EditReportInput.recipients": "they stay as they are, and an empty one is refused",
	"EditUserInput.permissions":  "an empty one takes all permissions away", "EditWebhookInput.eventTypes": "an empty one is refused",
	"EditDashboardInput.tiles": "a missing one leaves the tiles as they are",
}

// narrows reports whether the input narrows what a write is for: everything is all.
func narrows(def *ast.Definition) bool { return def.Fields.ForName("all") != nil }

// Nothing never means everything: each optional list of a mutation's input stands beside
// all, which says everything, or is known to do nothing when it is missing.
func TestEveryOptionalListOfAMutationStandsBesideAll(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, mutation := range rootFields(schemaOf())["mutation"] {
		for _, def := range inputsOf(mutation.Arguments.ForName("input").Type.Name()) {
			for _, field := range def.Fields {
				if field.Type.Elem == nil || field.Type.NonNull {
					continue
				}
				name := def.Name + "." + field.Name
				seen[name] = true
				if !narrows(def) && harmlessLists[name] == "" {
					t.Errorf("%s: a list that is left out must not mean everything", name)
				}
			}
		}
	}
	for name := range harmlessLists {
		if !seen[name] {
			t.Errorf("%s is excused, and is no optional list of a mutation", name)
		}
	}
}

// inputsOf are an input and those in it, but filters: they narrow by conditions.
func inputsOf(name string) (defs []*ast.Definition) {
	def := schemaOf().Types[name]
	defs = append(defs, def)
	for _, field := range def.Fields {
		if inner := schemaOf().Types[field.Type.Name()]; inner.Kind == ast.InputObject && !strings.HasSuffix(inner.Name, "Filter") {
			defs = append(defs, inputsOf(inner.Name)...)
		}
	}
	return defs
}

// scoped are inputs of the mutations that lack nothing but what they are for.
var scoped = map[string]string{
	"createSilence": `reason: "x", endsAt: "2100-01-01T00:00:00Z", startsAt: "2099-12-31T00:00:00Z", scope: %s`, "editSilence": `silenceId: 1, scope: %s`,
	"createWebhook": `name: "x", url: "https://example.com", eventTypes: [ALERT_FIRED], scope: %s`, "editWebhook": `webhookId: 1, scope: %s`,
	"createUser": `email: "x@demo.example", permissions: [], scope: %s`, "editUser": `userEmail: "admin@demo.example", scope: %s`,
	"createRecipient": `email: "x@demo.example", scope: %s`, "editRecipient": `recipientId: 1, scope: %s`,
	"createAccessKey": `userEmail: "admin@demo.example", scope: %s`,
}

// itemOf is an item of each list that stands beside others in a scope.
var itemOf = map[string]string{"alertIds": "1", "groupIds": "1", "tagNames": `"x"`, "physicalIds": `"x"`}

// Each input that narrows refuses to say nothing, an empty list, and everything beside
// something, in every mutation that takes it.
func TestAScopeThatSaysNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	silence := s.mustAsk(t, `mutation {createSilence(input: {`+fmt.Sprintf(scoped["createSilence"], `{all: true}`)+`}) {silence {silenceId}}}`).at("createSilence", "silence", "silenceId")
	recipient := s.mustAsk(t, `mutation {createRecipient(input: {`+fmt.Sprintf(scoped["createRecipient"], `{all: true}`)+`}) {recipient {recipientId}}}`).at("createRecipient", "recipient", "recipientId")
	webhook := s.mustAsk(t, `mutation {createWebhook(input: {`+fmt.Sprintf(scoped["createWebhook"], `{all: true}`)+`}) {webhook {webhookId}}}`).at("createWebhook", "webhook", "webhookId")
	ids := strings.NewReplacer("silenceId: 1", fmt.Sprint("silenceId: ", silence), "recipientId: 1", fmt.Sprint("recipientId: ", recipient), "webhookId: 1", fmt.Sprint("webhookId: ", webhook))
	for _, mutation := range rootFields(schemaOf())["mutation"] {
		field := schemaOf().Types[mutation.Arguments.ForName("input").Type.Name()].Fields.ForName("scope")
		if field == nil {
			continue
		}
		if scoped[mutation.Name] == "" {
			t.Errorf("%s: no input is listed", mutation.Name)
			continue
		}
		def := schemaOf().Types[field.Type.Name()]
		wrong := []string{`{}`, `{all: false}`, `{all: null}`}
		for _, list := range def.Fields {
			if list.Type.Elem != nil {
				wrong = append(wrong, `{`+list.Name+`: []}`, `{`+list.Name+`: null}`, `{all: true, `+list.Name+`: []}`)
			}
			for _, other := range def.Fields {
				if filled := itemOf[list.Name]; other != list && other.Type.Elem != nil && list.Type.Elem != nil {
					if filled == "" {
						t.Errorf("%s.%s: no item is listed", def.Name, list.Name)
					}
					wrong = append(wrong, `{`+list.Name+`: [`+filled+`], `+other.Name+`: []}`)
				}
			}
		}
		for _, scope := range wrong {
			a := s.ask(t, ids.Replace(fmt.Sprintf(`mutation {%s(input: {%s}) {__typename}}`, mutation.Name, fmt.Sprintf(scoped[mutation.Name], scope))))
			if code := a.code(); !slices.Contains([]string{"INVALID_PARAMETER", "BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"}, code) {
				t.Errorf("%s(scope: %s): got %s %v", mutation.Name, scope, code, a.Errors)
			}
		}
		if a := s.ask(t, ids.Replace(fmt.Sprintf(`mutation {%s(input: {%s}) {__typename}}`, mutation.Name, fmt.Sprintf(strings.Replace(scoped[mutation.Name], "x@demo", "y@demo", 1), `{all: true}`)))); a.code() != "" {
			t.Errorf("%s(scope: {all: true}): got %v", mutation.Name, a.Errors)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scoped)) {
		if schemaOf().Mutation.Fields.ForName(name) == nil {
			t.Errorf("there is no mutation %s", name)
		}
	}
}
