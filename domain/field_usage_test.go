package domain_test

import (
	"strings"
	"testing"

	"simgraph/domain"
)

func TestAnOperationIsCountedForItsClient(t *testing.T) {
	t.Parallel()
	byKey, plain := &domain.Caller{AccessKeyID: "k1"}, &domain.Caller{Email: "a@b.example"}
	long := strings.Repeat("é", 3*domain.MaxClientText)
	for _, c := range []struct {
		caller                              *domain.Caller
		door, name, version, client, number string
	}{
		{byKey, "graphql", "app", "1.2", "app", "1.2"},
		{byKey, "graphql", "", "1.2", "key k1", ""},
		{plain, "graphql", "", "", "unnamed", ""},
		{plain, "", "", "", "unnamed", ""},
		{byKey, "rest", "app", "1.2", "simgraph rest", ""},
		{byKey, "mcp (desktop 1.2)", "app", "", "simgraph mcp", ""},
		{plain, "graphql", "  \x00\u202e\xff ", "1", "unnamed", ""},
		{plain, "graphql", " my\tapp \n", "1\x00.2", "myapp", "1.2"},
		{plain, "graphql", "my app", strings.Repeat("9", 101), "my app", strings.Repeat("9", 100)},
		{plain, "graphql", long, "", strings.Repeat("é", domain.MaxClientText), ""},
	} {
		if client, number := domain.ClientOf(c.caller, c.door, c.name, c.version); client != c.client || number != c.number {
			t.Errorf("%q %.20q: %q %q", c.door, c.name, client, number)
		}
	}
}

// Equal sets of coordinates have equal ids.
func TestSetsOfCoordinatesHaveIDs(t *testing.T) {
	t.Parallel()
	a, b := domain.SetID([]string{"Query.a", "Query.b"}), domain.SetID([]string{"Query.a"})
	if a == b || len(a) != 32 || a != domain.SetID([]string{"Query.a", "Query.b"}) {
		t.Error(a, b)
	}
}
