package resolvers_test

import (
	"strings"
	"testing"
)

// TestEachMutationTakesOneInput holds mutations to one form: an input of their
// own and a payload of their own, so that both can grow.
func TestEachMutationTakesOneInput(t *testing.T) {
	t.Parallel()
	for _, field := range rootFields(schemaOf())["mutation"] {
		name := strings.ToUpper(field.Name[:1]) + field.Name[1:]
		if len(field.Arguments) != 1 || field.Arguments[0].Name != "input" || field.Arguments[0].Type.String() != name+"Input!" {
			t.Errorf("%s must take (input: %sInput!)", field.Name, name)
		}
		if field.Type.String() != name+"Payload" {
			t.Errorf("%s must answer %sPayload", field.Name, name)
		}
	}
}
