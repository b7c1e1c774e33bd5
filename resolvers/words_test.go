package resolvers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// verbs are what mutations begin with, each for one meaning. Others that mean the same are
// refused: add is create, change and update are edit, remove is delete, save is set.
var verbs = map[string]string{
	"create": "makes an object", "edit": "changes some values of an object", "delete": "deletes an object", "set": "makes an object or replaces it",
	"attach": "puts on", "detach": "takes off", "move": "into another group", "bar": "in the inventory", "unbar": "in the inventory", "terminate": "a contract",
	"record": "usage", "report": "what became of a command", "rotate": "a secret", "restore": "mail to an address", "send": "a test alert", "test": "a webhook",
	"enable": "a webhook", "disable": "a webhook", "pause": "a source", "resume": "a source", "sync": "an upstream", "replay": "what was sent or refused",
	"start": "what runs", "cancel": "what waits or runs", "confirm": "what waits for a person", "undo": "an operation", "retry": "a command", "end": "what runs", "revoke": "a key",
	"invite": "a user", "withdraw": "an invitation",
}

// limited are the verbs that are for some nouns alone.
var limited = map[string][]string{"revoke": {"AccessKey"}, "end": {"Silence", "UserSessions"}, "invite": {"User"}, "withdraw": {"Invitation"}}

func TestMutationsBeginWithOneVerbForEachMeaning(t *testing.T) {
	t.Parallel()
	for _, field := range rootFields(schemaOf())["mutation"] {
		end := strings.IndexFunc(field.Name, func(c rune) bool { return 'A' <= c && c <= 'Z' })
		verb, noun := field.Name[:max(end, 0)], field.Name[max(end, 0):]
		if verbs[verb] == "" {
			t.Errorf("%s: %q is none of the verbs", field.Name, verb)
		}
		if of := limited[verb]; of != nil && !slices.Contains(of, noun) {
			t.Errorf("%s: %s is for %v", field.Name, verb, of)
		}
	}
}

// Booleans are named by a question. The exceptions are those of Relay.
func TestBooleansOfAnswersBeginWithIs(t *testing.T) {
	t.Parallel()
	for _, def := range schemaOf().Types {
		if def.Kind != ast.Object && def.Kind != ast.Interface || strings.HasPrefix(def.Name, "__") || def.Name == "PageInfo" {
			continue
		}
		for _, field := range def.Fields {
			if field.Type.Name() == "Boolean" && !strings.HasPrefix(field.Name, "is") {
				t.Errorf("%s.%s must begin with is", def.Name, field.Name)
			}
		}
	}
}

// A span has startsAt and endsAt; a step of a series, of which only the begin is said, start.
func TestSpansHaveStartsAtAndEndsAt(t *testing.T) {
	t.Parallel()
	for _, def := range schemaOf().Types {
		if def.Kind != ast.Object && def.Kind != ast.Interface {
			continue
		}
		for was, name := range map[string]string{"start": "startsAt", "end": "endsAt"} {
			if isStep := def.Fields.ForName("end") == nil; def.Fields.ForName(was) != nil && !isStep {
				t.Errorf("%s.%s must be %s: start alone is that of a step, whose length its list has", def.Name, was, name)
			}
		}
	}
}
