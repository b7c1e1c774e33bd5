package resolvers_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/generated"
)

// filtered are the lists that take a filter of that kind, with the type of it, by their names.
func filtered(kind ast.DefinitionKind) map[string]string {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	types := map[string]string{}
	for _, root := range schema.Query.Fields {
		if filter := root.Arguments.ForName("filter"); filter != nil && schema.Types[filter.Type.Name()].Kind == kind {
			types[root.Name] = filter.Type.String()
		}
	}
	return types
}

// fuzzedBy is a field for which a list reads by its filter. Sums are read as a whole.
func fuzzedBy(root *ast.FieldDefinition) string {
	if root.Type.Elem != nil {
		return "__typename"
	}
	return "totalCount"
}

// fuzzFilters asks lists with filters, on a real database: whatever a filter is, the list is
// answered, or the filter is refused.
func fuzzFilters(f *testing.F, lists map[string]string, ask func(text string) (filter any, ok bool)) {
	s, roots := newStack(f), schemaOf().Query.Fields
	f.Fuzz(func(t *testing.T, list, text string) {
		filter, ok := ask(text)
		if lists[list] == "" || !ok {
			return
		}
		a := s.ask(t, `query ($f: `+lists[list]+`) {`+list+`(filter: $f) {`+fuzzedBy(roots.ForName(list))+`}}`, "f", filter)
		for _, fault := range a.Errors {
			if code := fault.Extensions["code"]; code != "BAD_USER_INPUT" && code != "INVALID_PARAMETER" {
				t.Errorf("%s: %s: %v %s", list, text, code, fault.Message)
			}
		}
	})
}

// FuzzTypedFilters is about the filters that are inputs of the graph.
func FuzzTypedFilters(f *testing.F) {
	lists := filtered(ast.InputObject)
	if len(lists) < 5 {
		f.Fatalf("the lists are %v", lists)
	}
	for list := range lists {
		for _, text := range []string{
			`null`, `{}`, `[]`, `{"and": [], "or": []}`, `{"not": {"or": [{}]}}`, `{"id": {"eq": null}}`, `{"createdAt": {"gt": "2026-11-01T00:00:00Z", "le": "9999-12-31"}}`,
			`{"physicalId": {"in": ["a", "\u0000"], "like": "%_\\"}}`, `{"tags": {"in": ["x"], "eq": null}}`, `{"lineRental": {"ge": 1e308, "in": [0.5, -0.0]}}`,
			`{"ruleType": {"notIn": []}, "limitBoundary": {"ne": "LOWER"}}`, `{"related": {"parent": {"isEnabledOnParent": {"eq": true}}}}`,
		} {
			f.Add(list, text)
		}
	}
	fuzzFilters(f, lists, func(text string) (filter any, ok bool) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		err := decoder.Decode(&filter)
		return filter, err == nil
	})
}

// FuzzFilterTexts is about the filter language of the REST paths.
func FuzzFilterTexts(f *testing.F) {
	lists := filtered(ast.Scalar)
	if len(lists) < 3 {
		f.Fatalf("the lists are %v", lists)
	}
	for list := range lists {
		for _, text := range []string{
			"", "id eq 1", "not (id ne null or id in (1, 'x'))", "dateCreated gt 2026-11-01T00:00:00 01:00", "dateCreated le 0001-01-01", "nickname like '%\\_'", "tags in (a, b) and not tags eq c",
			"lineRental ge 1e308", "lowerThreshold lt -9223372036854775808", "kind eq cellular or kind ne non-ip", "nickname eq \"\x00\"", "networkState.isOnline ne null",
		} {
			f.Add(list, text)
		}
	}
	fuzzFilters(f, lists, func(text string) (any, bool) { return text, true })
}

func TestFiltersOfEveryListAreFuzzed(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	typed, texts := filtered(ast.InputObject), filtered(ast.Scalar)
	for _, root := range schema.Query.Fields {
		if root.Arguments.ForName("filter") == nil {
			continue
		}
		if typed[root.Name] == "" && texts[root.Name] == "" {
			t.Errorf("the filter of %s is neither an input nor a text", root.Name)
		}
		connection := schema.Types[root.Type.Name()]
		if by := fuzzedBy(root); by == "totalCount" && !slices.ContainsFunc(connection.Fields, func(field *ast.FieldDefinition) bool { return field.Name == "totalCount" }) {
			t.Errorf("%s has no totalCount, by which it is fuzzed", root.Name)
		}
	}
}
