package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"simgraph/graph/federation"
)

const entities = `query ($of: [_Any!]!) {_entities(representations: $of) {__typename ... on Subscriber {physicalId} ... on Group {groupId} ... on Tag {name}}}`

func representing(kind, key string, value any) map[string]any {
	return map[string]any{"__typename": kind, key: value}
}

// What a gateway asks for costs one statement for each type and one for each relation.
func TestAThousandRepresentationsAreOneStatementARelation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	known := s.subscriberIDs(t, 100)
	of := make([]any, 1_000)
	for i := range of {
		var id any = fmt.Sprint("unknown ", i)
		if i%2 == 0 {
			id = known[i/2%len(known)]
		}
		of[i] = representing("Subscriber", "physicalId", id)
	}
	for selection, want := range map[string]int{
		"physicalId":                           1,
		"nickname group {name} tags {name}":    1,
		"group {name numberOfUsers} dataUsage": 2,
		"group {numberOfUsers numberOfSubscribers} operator {name} tariff {name} tags {name numberOfSubscribers} profiles {physicalId} parent {physicalId subscriber {nickname}}": 5,
	} {
		a := s.mustAsk(t, `query ($of: [_Any!]!) {_entities(representations: $of) {... on Subscriber {physicalId `+selection+`}}}`, "of", of)
		if a.Statements != want {
			t.Errorf("%s: %d statements, not %d", selection, a.Statements, want)
		}
		for i, got := range a.at("_entities").([]any) {
			if i%2 == 1 {
				if got != nil {
					t.Fatalf("%d is %v", i, got)
				}
			} else if got.(map[string]any)["physicalId"] != known[i/2%len(known)] {
				t.Fatalf("%d is %v, want %s", i, got, known[i/2%len(known)])
			}
		}
	}
}

// What cannot be read is null with an error at its place; the others are answered in order.
func TestRepresentationsThatCannotBeReadCostTheOthersNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	one := s.subscriberIDs(t, 1)[0].(string)
	id := s.mustAsk(t, `{subscribers(first: 1) {nodes {id}} groups(first: 1) {nodes {groupId}} tags(first: 1) {nodes {name}}}`)
	group, tag := id.at("groups", "nodes", 0, "groupId"), id.at("tags", "nodes", 0, "name")
	good := representing("Subscriber", "physicalId", one)
	deep := any("junk")
	for range 500 {
		deep = map[string]any{"a": []any{deep}}
	}
	for _, c := range []struct {
		of    any
		found string // what is found, by its key
		err   string
	}{
		{of: representing("Subscriber", "id", id.at("subscribers", "nodes", 0, "id")), found: one},
		{of: representing("Group", "groupId", group), found: fmt.Sprint(group)},
		{of: representing("Tag", "name", tag), found: fmt.Sprint(tag)},
		{of: map[string]any{"__typename": "Subscriber", "physicalId": one, "nickname": deep}, found: one},
		{of: representing("Subscriber", "physicalId", "none")},
		{of: representing("Group", "groupId", 1<<40)},
		{of: representing("Group", "id", id.at("subscribers", "nodes", 0, "id"))},
		{of: representing("Group", "id", "nonsense")},
		{of: map[string]any{}, err: `__typename must be a type with a key, not ""`},
		{of: map[string]any{"__typename": 7}, err: `__typename must be a type with a key, not ""`},
		{of: representing("Query", "id", "1"), err: `__typename must be a type with a key, not "Query"`},
		{of: representing("Alert", "alertId", 1), err: `__typename must be a type with a key, not "Alert"`},
		{of: representing(strings.Repeat("x", 60_000), "id", "1"), err: `__typename must be a type with a key, not "` + strings.Repeat("x", 100) + `"`},
		{of: map[string]any{"__typename": "Subscriber"}, err: "Subscriber must have one of its keys: id, physicalId"},
		{of: representing("Subscriber", "physicalId", nil), err: "Subscriber must have one of its keys: id, physicalId"},
		{of: representing("Subscriber", "physicalId", 7), err: "physicalId of Subscriber must be of the type String"},
		{of: representing("Subscriber", "physicalId", deep), err: "physicalId of Subscriber must be of the type String"},
		{of: representing("Subscriber", "id", []any{"a"}), err: "id of Subscriber must be of the type ID"},
		{of: representing("Group", "groupId", fmt.Sprint(group)), err: "groupId of Group must be of the type Int"},
		{of: representing("Group", "groupId", 1.5), err: "groupId of Group must be of the type Int"},
		{of: representing("AuditEntry", "sequence", "many"), err: "sequence of AuditEntry must be of the type BigInt"},
	} {
		a := s.ask(t, entities, "of", []any{good, c.of, good})
		all, is := a.at("_entities").([]any)
		if !is || len(all) != 3 || fmt.Sprint(all[0]) != fmt.Sprint(all[2]) || all[0] == nil {
			t.Errorf("beside %.200v: %v %v", c.of, a.Data, a.Errors)
			continue
		}
		if (all[1] != nil) != (c.found != "") || !strings.Contains(fmt.Sprint(all[1]), c.found) {
			t.Errorf("%.200v is %v, not %s", c.of, all[1], c.found)
		}
		switch {
		case c.err == "" && len(a.Errors) == 0:
		case len(a.Errors) != 1 || a.Errors[0].Message != c.err || fmt.Sprint(a.Errors[0].Path) != "[_entities 1]" || a.code() != "INVALID_PARAMETER":
			t.Errorf("%.200v: %v, want %s", c.of, a.Errors, c.err)
		}
	}
}

// Entries of the audit log are found by the statement of the list, which has pages of 100.
func TestMoreEntitiesThanAPageHasAreFound(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for part := range 3 {
		var edits strings.Builder
		for i := range 50 {
			fmt.Fprintf(&edits, ` e%d: editGroup(input: {groupId: 1, name: "group %d of %d"}) {group {name}}`, i, i, part)
		}
		s.mustAsk(t, "mutation {"+edits.String()+"}")
	}
	of := make([]any, 150)
	for i := range of {
		of[i] = representing("AuditEntry", "sequence", fmt.Sprint(i+1))
	}
	a := s.mustAsk(t, `query ($of: [_Any!]!) {_entities(representations: $of) {... on AuditEntry {sequence}}}`, "of", of)
	for i, entry := range a.at("_entities").([]any) {
		if entry == nil || entry.(map[string]any)["sequence"] != fmt.Sprint(i+1) {
			t.Fatalf("entry %d is %v", i+1, entry)
		}
	}
}

func TestTooManyRepresentationsAndThoseOfOtherFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	good := representing("Subscriber", "physicalId", "1")
	for name, of := range map[string]any{
		"a list may have at most 1000 elements": slices.Repeat([]any{good}, 1_001),
		"expected an object with a __typename":  []any{good, "text"},
		"must not be null":                      []any{nil},
		"a text must not have NUL characters":   []any{representing("Subscriber", "physicalId", "\x00")},
		"a text may have at most 65536 bytes":   []any{representing("Subscriber", "physicalId", strings.Repeat("x", 65_537))},
	} {
		a := s.ask(t, entities, "of", of)
		if a.code() != "BAD_USER_INPUT" || !strings.Contains(a.Errors[0].Message, name) || a.Statements != 0 {
			t.Errorf("%s: %v, %d statements", name, a.Errors, a.Statements)
		}
	}
	if a := s.ask(t, `{_entities(representations: [{__typename: "Subscriber", physicalId: "\u0000"}]) {__typename}}`); a.code() == "" || a.Statements != 0 {
		t.Errorf("NUL in the document: %v", a.Errors)
	}
	dear := s.ask(t, `query ($of: [_Any!]!) {_entities(representations: $of) {... on Group {subscribers(first: 100) {nodes {physicalId}}}}}`, "of", slices.Repeat([]any{representing("Group", "groupId", 1)}, 1_000))
	if dear.code() != "COST_LIMIT_EXCEEDED" {
		t.Errorf("a page of 100 below 1,000 objects: %v", dear.Errors)
	}
}

// A subgraph is composed of types, and the keys of each are fields of it.
func TestTheSubgraphHasAKeyOfEveryNode(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	for name, keys := range federation.Keys(schema) {
		if !slices.Contains(schema.Types["_Entity"].Types, name) {
			t.Errorf("%s is no _Entity: make generate", name)
		}
		for _, key := range keys {
			if field := schema.Types[name].Fields.ForName(key.Field); field == nil || field.Type.Name() != key.Scalar || !field.Type.NonNull {
				t.Errorf("%s has the key %s %s, which is no field of it", name, key.Field, key.Scalar)
			}
		}
	}
	for _, name := range schema.Types["_Entity"].Types {
		if len(federation.Keys(schema)[name]) == 0 {
			t.Errorf("%s is an _Entity without a key: make generate", name)
		}
	}
	sdl := newStack(t).mustAsk(t, `{_service {sdl}}`).at("_service", "sdl").(string)
	for _, want := range []string{`type Subscriber implements Node @key(fields: "id") @key(fields: "physicalId") {`, "type PageInfo @shareable {", "\ndirective @oneOf on INPUT_OBJECT\n"} {
		if !strings.Contains(sdl, want) {
			t.Errorf("the subgraph lacks %s", want)
		}
	}
	for _, name := range []string{"_entities", "_service", "_Any", "_Entity", "_Service"} {
		if strings.Contains(sdl, name) {
			t.Errorf("the subgraph has %s, which gateways add", name)
		}
	}
}

// Directives of the graph must not have names of federation's: composers that do not heed @link
// take them for those.
func TestDirectivesDoNotCollideWithFederation(t *testing.T) {
	t.Parallel()
	names := strings.Fields("authenticated composeDirective cacheTag context cost extends external fromContext inaccessible interfaceObject key link listSize override policy provides requires requiresScopes shareable tag")
	for name := range schemaOf().Directives {
		if slices.Contains(names, name) {
			t.Errorf("the schema declares @%s", name)
		}
	}
}
