package lists_test

import (
	"strings"
	"testing"

	"simgraph/graph/lists"
)

func TestTheValueOfAnOrderNamesTheField(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"name": "NAME", "createdAt": "CREATED_AT", "networkState.isOnline": "NETWORK_STATE_IS_ONLINE", "fixedIpAddress": "FIXED_IP_ADDRESS"} {
		if got := lists.EnumValue(field); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
}

// Two fields of a list with one value, or two lists with one name of inputs, would make inputs that no server can read.
func TestListsAndTheirValuesAreTold(t *testing.T) {
	t.Parallel()
	types, prefixes := map[string]bool{}, map[string]bool{}
	for _, list := range lists.Generated {
		if types[list.Type] || prefixes[list.Prefix] || list.Plural == "" {
			t.Errorf("%s is there twice, or has no plural", list.Type)
		}
		types[list.Type], prefixes[list.Prefix] = true, true
		values := map[string]string{}
		for _, field := range list.Fields.All() {
			value := lists.EnumValue(field.Name)
			if before := values[value]; before != "" || strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
				t.Errorf("%s: %s and %q are %s", list.Type, field.Name, before, value)
			}
			values[value] = field.Name
		}
		if len(values) == 0 {
			t.Errorf("%s has no fields", list.Type)
		}
	}
}
